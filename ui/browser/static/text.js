// A few lines that Python writes, such as a problem and what to do about it.
follow((value) => {
  const body = part("body");
  if (body.html !== value.html) body.innerHTML = body.html = value.html || "";
});
