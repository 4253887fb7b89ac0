"""`python -m app` is `macaron`."""

from app.cli import main

if __name__ == "__main__":
    main()
