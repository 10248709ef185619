package scenario

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/fault"
	"github.com/evenkeel/evenkeel/pkg/release"
)

// Emulate restarts members, one after the other, with the same binaries and another emulated
// version: the second half of an upgrade in two steps (KEP-4330).
type Emulate struct {
	// Members are selectors.
	Members []string `yaml:"members"`
	// Version is the version that the members' components emulate from then on, such as 1.36,
	// or a release relative to the member's as in an upgrade step, whose version it is. Empty
	// means that of the member's binaries: the members emulate no other version.
	Version string `yaml:"version,omitempty"`
	// Compatible is the oldest version that has to be able to read what the members store
	// (--min-compatibility-version), in the same notation. Empty leaves that to the members.
	Compatible string `yaml:"compatible,omitempty"`
	// WithFaults names faults that are active from before the stop until the member is ready
	// again.
	WithFaults []string `yaml:"withFaults,omitempty"`
}

var _ = register("emulate", func() Action { return &Emulate{} }, emulateFields, cluster.Emulates)

func (s *Emulate) validate() error {
	var err error
	if len(s.Members) == 0 {
		err = errors.New("members is missing")
	}
	return err
}
func (s *Emulate) selectors() []string { return s.Members }
func (s *Emulate) emulated() (version, compatible string, names bool) {
	return s.Version, s.Compatible, true
}
func (s *Emulate) faults() []string          { return s.WithFaults }
func (s *Emulate) fits(f *fault.Fault) error { return fitsAround(f) }
func (s *Emulate) restarts(*Scenario) bool   { return true }

func (s *Emulate) within(r *Runner, members int) time.Duration {
	return (&Replace{}).within(r, members)
}

func (s *Emulate) play(ctx context.Context, r *Runner, at target) error {
	return r.replace(ctx, at.members, at.releases, s.WithFaults, nil)
}

// emulating is a step that can name what its members emulate from then on. Where it does, an
// empty version means that of their binaries, and an empty compatible one leaves that to them.
type emulating interface {
	emulated() (version, compatible string, names bool)
}

// versionNotation is a version as --emulated-version takes it.
var versionNotation = regexp.MustCompile(`^\d+\.\d+$`)

// emulation is the release that a member gets which runs the binaries of next, and emulates a
// version that may be relative to the release that the member runs now or began with.
func emulation(next, now, start, version, compatible string, known []string) (string, error) {
	played := release.Played{Binary: release.Binary(next)}
	var err error
	if played.Emulated, err = versionFor(version, now, start, known); err != nil {
		return "", err
	}
	if played.Compatible, err = versionFor(compatible, now, start, known); err != nil {
		return "", err
	}
	if own, err := release.Minor(played.Binary); err == nil && own == played.Emulated {
		played.Emulated = ""
	}
	return played.String(), nil
}

// versionFor is the version that a scenario means by a name.
func versionFor(name, binary, start string, known []string) (string, error) {
	if name == "" || versionNotation.MatchString(name) {
		return name, nil
	}
	found, err := releaseFor(name, binary, start, known)
	if err != nil {
		return "", fmt.Errorf("the version to emulate: %w", err)
	}
	return release.Minor(found)
}
