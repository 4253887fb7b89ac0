// Gradio (6.31) closes its stream of answers when none is due. An event that was accepted before the browser noticed gets
// no stream of its own, and its answer waits until the next event opens one. So whenever a stream closes upon an event
// that was accepted while it was open, another event follows at once, which does nothing but open a stream.
const EVENTS = ["knock"];
const plain = window.fetch;
let opened = 0, accepted = 0;

window.fetch = async (request, ...rest) => {
  const address = request.url || String(request);
  if (address.includes("/queue/data")) {
    opened = performance.now();
    (request.signal || rest[0]?.signal)?.addEventListener("abort", () => {
      if (accepted > opened) setTimeout(() => trigger("knock", {}));
    });
  }
  const answer = await plain(request, ...rest);
  if (address.includes("/queue/join")) accepted = performance.now();
  return answer;
};
