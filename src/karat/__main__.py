"""`python -m karat`."""

import sys

from karat.cli.main import main

sys.exit(main())
