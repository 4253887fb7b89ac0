"""Jobs in the host: a timer, one run at a time, and how the user is told; and the verbs that show and change them."""
