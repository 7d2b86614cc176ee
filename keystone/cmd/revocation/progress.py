# SPDX-License-Identifier: Apache-2.0

"""Progress of a long-running command."""

import shutil
import time

# Seconds between two updates, on a terminal and elsewhere.
_OF_A_TERMINAL = 0.1
_OF_LINES = 10


class Progress:
    """Reports the number of deleted events.

    Shows a progress bar on a terminal, and plain lines otherwise.

    :param stream: file to write to
    :param total: number of events to delete
    :param clock: callable, returns monotonic seconds
    """

    def __init__(self, stream, total, clock=time.monotonic):
        self._stream = stream
        self._total = total
        self._clock = clock
        self._began = self._told = clock()
        self._is_terminal = stream.isatty()
        self._width = 0

    def update(self, done):
        """Update the output, unless it was updated a moment ago.

        :param done: number of events deleted so far
        """
        now = self._clock()
        every = _OF_A_TERMINAL if self._is_terminal else _OF_LINES
        if now - self._told < every:
            return
        self._told = now
        # Other processes may delete too, and more events may expire.
        done = min(done, self._total)
        words = f'{done:,} of {self._total:,}'
        rate = done / (now - self._began)
        if rate:
            words += f', {rate:,.0f}/s, {self._rest(done, rate)} left'
        if self._is_terminal:
            self._show(self._bar(done, words))
        else:
            print(words, file=self._stream, flush=True)

    def note(self, words):
        """Write a separate line."""
        self.end()
        print(words, file=self._stream, flush=True)

    def end(self):
        """Remove the progress bar."""
        if self._width:
            self._show('')
            self._stream.write('\r')
            self._stream.flush()
            self._width = 0

    def _rest(self, done, rate):
        seconds = round((self._total - done) / rate)
        minutes, seconds = divmod(seconds, 60)
        hours, minutes = divmod(minutes, 60)
        if hours:
            return f'{hours}:{minutes:02}:{seconds:02}'
        return f'{minutes}:{seconds:02}'

    def _bar(self, done, words):
        columns = shutil.get_terminal_size().columns
        width = max(columns - len(words) - 10, 0)
        share = done / self._total if self._total else 1
        filled = int(width * share)
        bar = '#' * filled + '.' * (width - filled)
        return f'[{bar}] {share:4.0%} {words}'[: columns - 1]

    def _show(self, text):
        padding = ' ' * (self._width - len(text))
        self._stream.write(f'\r{text}{padding}')
        self._stream.flush()
        self._width = len(text)
