package cluster

import "context"

// Finding is what a look at one property of this machine has found.
type Finding struct {
	What string
	// Detail says what was found, or what is missing and what to do about it.
	Detail string
	OK     bool
	// Needed is whether nothing can run without it.
	Needed bool
}

// MachineExaminer is a Provider whose clusters need something of this machine, such as a daemon or
// built binaries.
type MachineExaminer interface {
	// ExamineMachine tells what is there and what is missing. What it starts to find out has ended
	// when it returns, and it leaves nothing.
	ExamineMachine(ctx context.Context) []Finding
}
