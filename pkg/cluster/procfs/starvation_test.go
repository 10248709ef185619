package procfs

import (
	"os"
	"testing"
	"time"
)

func TestParseSchedstat(t *testing.T) {
	for raw, want := range map[string]time.Duration{"78357 142783 2\n": 142783, "1 0 0\n": 0} {
		if got, err := parseSchedstat([]byte(raw)); err != nil || got != want {
			t.Errorf("%q: %d, %v, want %d", raw, got, err, want)
		}
	}
	for _, raw := range []string{"", "78357", "78357 x 2", "78357 -3 2"} {
		if got, err := parseSchedstat([]byte(raw)); err == nil {
			t.Errorf("%q: %d and no error", raw, got)
		}
	}
}

func TestParsePressure(t *testing.T) {
	const raw = "some avg10=1.47 avg60=1.17 avg300=0.87 total=4373\nfull avg10=0.00 avg60=0.05 avg300=0.18 total=33937350\n"
	if got, err := parsePressure([]byte(raw)); err != nil || got != 4373*time.Microsecond {
		t.Errorf("%s, %v", got, err)
	}
	for _, raw := range []string{"", "full avg10=0.00 total=3\n", "some avg10=0.00\n", "some total=x\n", "some total=-1\n"} {
		if got, err := parsePressure([]byte(raw)); err == nil {
			t.Errorf("%q: %s and no error", raw, got)
		}
	}
}

func TestWaitedForCPU_OfAProcessThatIsThereNeverGoesBack(t *testing.T) {
	if _, err := os.Stat("/proc/self/schedstat"); err != nil {
		t.Logf("this kernel keeps no account of its scheduler: %v", err)
		return
	}
	before, err := WaitedForCPU(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		now, err := WaitedForCPU(os.Getpid())
		if err != nil || len(now) == 0 {
			t.Fatalf("%v, %v", now, err)
		}
		for thread, waited := range before {
			if later, lives := now[thread]; lives && later < waited {
				t.Fatalf("thread %d had waited %s, and has %s", thread, waited, later)
			}
		}
	}
	if _, err := WaitedForCPU(1 << 30); err == nil {
		t.Error("a process that is not there has waited")
	}
}
