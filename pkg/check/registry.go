package check

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// entry is a check that can be made, and the sources that it must be able to
// trust to be whole.
type entry struct {
	make    func() Check
	sources []Source
	// relies is on what else the check builds.
	relies reliance
}

// reliance is what a check takes for granted, beside sources that missed
// nothing. Where the history speaks against it the check does not pass.
type reliance int

const (
	// onLooks: each server that was ready was asked what it hosts, and the
	// answers agree with each other and with etcd.
	onLooks reliance = 1 << iota
	// onTags: each accepted write of the harness shows in etcd under its tag.
	onTags
)

// registry lists the checks that are built in.
var registry = map[requirement.ID]entry{}

// Built is whether a law or a check for the requirement is built in.
func Built(id requirement.ID) bool {
	_, ok := registry[id]
	return ok || slices.ContainsFunc(keps, func(k law.KEP) bool { return slices.Contains(k.IDs(), id) })
}
