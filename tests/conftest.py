"""What holds for every test."""

import signal

# A suite started in the background, or under nohup, has these ignored, and so would have everything it starts.
for _signum in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
    if signal.getsignal(_signum) is signal.SIG_IGN:
        signal.signal(_signum, signal.default_int_handler if _signum == signal.SIGINT else signal.SIG_DFL)
