package cluster

import (
	"context"
	"testing"
	"time"
)

func TestMachineFailure(t *testing.T) {
	for said, want := range map[string]string{
		"":                          "",
		"fake: the flag is missing": "",
		"listen tcp 127.0.0.1:1: bind: address already in use": "address already in use",
		"wal: write: No space left on device":                  "no space left on device",
		"evenkeel: cannot be started again: fork/exec: x":      StartedNoMore,
	} {
		if got := MachineFailure(said); got != want {
			t.Errorf("%q tells of %q, want %q", said, got, want)
		}
	}
}

func TestTimedOut(t *testing.T) {
	late, cancelLate := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancelLate()
	<-late.Done()
	derived, cancelDerived := context.WithCancelCause(late)
	defer cancelDerived(nil)
	given, cancel := context.WithCancel(t.Context())
	cancel()
	if !TimedOut(late) || !TimedOut(derived) || TimedOut(given) || TimedOut(t.Context()) {
		t.Errorf("%v, %v, %v, %v", TimedOut(late), TimedOut(derived), TimedOut(given), TimedOut(t.Context()))
	}
}
