package doctor

import "github.com/evenkeel/evenkeel/pkg/cluster"

import "golang.org/x/sys/unix"

// systemClock is about whether the clock of the machine is kept right. One that is set
// while a run goes on makes times of the control plane and of the harness incomparable, so
// that the run ends inconclusive.
func systemClock(status func() (int32, error)) cluster.Finding {
	f := cluster.Finding{What: "clock", OK: true, Detail: "synchronized"}
	flags, err := status()
	if err != nil {
		f.Detail = "whether it is synchronized cannot be told: " + err.Error()
		return f
	}
	if flags&unix.STA_UNSYNC != 0 {
		f.OK = false
		f.Detail = "not synchronized, and a run in which it is set is inconclusive: run `timedatectl set-ntp true`, or start another time service"
	}
	return f
}

// clockStatus reads what the kernel knows of its clock, and changes nothing.
func clockStatus() (int32, error) {
	var asked unix.Timex
	if _, err := unix.Adjtimex(&asked); err != nil {
		return 0, err
	}
	return asked.Status, nil
}
