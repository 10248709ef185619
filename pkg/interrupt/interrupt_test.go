package interrupt

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
)

func TestNotify_FirstSignalEndsTheContextAndTheSecondItsShelters(t *testing.T) {
	received := make(chan os.Signal)
	var heard []string
	usual := 0
	ctx, stop := relay(t.Context(), received, func() { usual++ }, func(nth int, s os.Signal) { heard = append(heard, s.String()) })
	sheltered, cancel := Shelter(ctx)
	defer cancel()
	bounded, cancelBounded := context.WithCancel(sheltered)
	defer cancelBounded()

	received <- syscall.SIGTERM
	<-ctx.Done()
	if cause := context.Cause(ctx); cause == nil || !strings.Contains(cause.Error(), "terminated") {
		t.Errorf("the context has ended because of %v", cause)
	}
	if sheltered.Err() != nil || usual != 0 {
		t.Errorf("after the first signal the shelter is %v, and signals have their usual effect: %v", sheltered.Err(), usual != 0)
	}
	late, cancelLate := Shelter(ctx)
	defer cancelLate()
	if late.Err() != nil {
		t.Errorf("a shelter that was made after the first signal is %v", late.Err())
	}

	received <- os.Interrupt
	<-bounded.Done()
	<-late.Done()
	if cause := context.Cause(bounded); !errors.Is(cause, ErrInsisted) {
		t.Errorf("the shelter has ended because of %v", cause)
	}
	if usual == 0 {
		t.Error("a third signal would be ignored too")
	}
	stop()
	if got := strings.Join(heard, ", "); got != "terminated, interrupt" {
		t.Errorf("told of %s", got)
	}
}

// own is a key of this test.
type own struct{}

func TestShelter_WithoutNotifyLasts(t *testing.T) {
	ctx, end := context.WithCancel(context.WithValue(t.Context(), own{}, "b"))
	sheltered, cancel := Shelter(ctx)
	end()
	if sheltered.Err() != nil || sheltered.Value(own{}) != "b" {
		t.Errorf("it is %v and has the value %v", sheltered.Err(), sheltered.Value(own{}))
	}
	cancel()
	if sheltered.Err() == nil {
		t.Error("it cannot be canceled")
	}
}

func TestNotify_HearsRealSignals(t *testing.T) {
	ctx, stop := Notify(t.Context(), nil, syscall.SIGUSR1)
	defer stop()
	if err := syscall.Kill(os.Getpid(), syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
	stop()
	stop() // twice is no harm
}
