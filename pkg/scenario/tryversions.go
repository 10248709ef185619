package scenario

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/registry"
	"github.com/evenkeel/evenkeel/pkg/release"
)

// TryVersions starts the program of a member's API server once more, beside the member's own,
// with versions that it must refuse, such as one to emulate that is newer than the program. The
// step records how the program ends and what it says.
type TryVersions struct {
	Member string `yaml:"member"`
	// Emulate is the version to emulate, such as 1.36, or a release relative to the member's
	// as in an upgrade step, whose version it is. Empty means that of the binaries.
	Emulate string `yaml:"emulate,omitempty"`
	// Compatible is the oldest version that has to be able to read what is stored, in the same
	// notation. Empty leaves that to the program.
	Compatible string `yaml:"compatible,omitempty"`
}

var _ = register("tryVersions", func() Action { return &TryVersions{} }, registry.Fields{
	"member": oneMember, "emulate": registry.AnyText("0.1", "99.0"), "compatible": registry.AnyText("0.1", "99.0"),
}, cluster.TriesVersions)

func (s *TryVersions) selectors() []string { return []string{s.Member} }

func (s *TryVersions) validate() error {
	err := missing("member", s.Member)
	if s.Emulate == "" && s.Compatible == "" {
		err = errors.Join(err, errors.New("needs emulate or compatible"))
	}
	return err
}

func (s *TryVersions) play(ctx context.Context, r *Runner, at target) error {
	return r.tryVersions(ctx, at.one(), s)
}

func (r *Runner) tryVersions(ctx context.Context, member string, s *TryVersions) error {
	trier, ok := r.cluster.(cluster.VersionTrier)
	if !ok {
		return errors.New("the provider cannot start a program beside those of its members")
	}
	binary := release.Binary(r.cluster.Release(member))
	played, err := emulation(binary, binary, release.Binary(r.start[member]), s.Emulate, s.Compatible, r.cluster.Releases())
	if err != nil {
		return err
	}
	from := r.History.Now()
	exit, log, err := trier.TryVersions(ctx, member, played)
	if err != nil {
		return fmt.Errorf("try %s at %s: %w", played, member, err)
	}
	r.History.Record(history.Event{Kind: history.KindVersionTrial, Member: member, From: from, VersionTrial: &history.VersionTrial{
		Release: played, Exit: exit, Log: r.exitLogs.masked(log),
	}})
	return nil
}

// cost is how long a program takes to look at its flags.
func (s *TryVersions) cost() time.Duration { return time.Second }
