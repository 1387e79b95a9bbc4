"""A recurrent network (LSTM or GRU) that classifies each step of a sequence."""
from torch import nn


class Recurrent(nn.Module):
    """A bidirectional recurrent network (nn.LSTM or nn.GRU), and a classifier of each step."""

    def __init__(self, kind, features=64, hidden=128, layers=1, classes=32):
        super().__init__()
        self.rnn = kind(features, hidden, layers, batch_first=True, bidirectional=True)
        self.head = nn.Linear(2 * hidden, classes)

    def forward(self, x):
        return self.head(self.rnn(x)[0])
