"""Everything between a socket and our routes: who may ask, from where, how much and how slowly.

    policy    what is refused, as pure decisions       secrets  the two secret files of a home
    gate      the same as ASGI middleware              tickets  logins of the page in a browser
    bodies    requests are read whole, within bounds   tries    failed tries by address
    answers   how refusals look, headers of all        serving  sockets on loopback, uvicorn on them
    protocol  deadlines of a connection                lan      a listener other machines can reach

Knows no route of the host or the page; both put their whole application behind one `Gate`.
"""
