package election_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// A process whose candidate was deleted learns of it when it renews next, and declares it again by then.
func TestCLE01_AnInstanceWhoseCandidateWasDeletedDeclaresItAgain(t *testing.T) {
	stood := func() *electionBuilder {
		return controlPlane("1.2.0", "1.2.0").wait(time.Minute).deleteCandidate("a_1")
	}
	later := func(b *electionBuilder) *electionBuilder {
		return b.wait(requirement.MustBound("CLE-01", "declaresAgainWithin")+time.Second).ready("a", 200)
	}
	later(stood()).expectBreaches(t, "CLE-01", "the controller-manager of a ran and was no candidate for 5m31s")
	later(stood().wait(time.Minute).declare("a_1", managersLease, "1.2.0")).expectBreaches(t, "CLE-01")
	later(stood().manager("a", history.ProcessExited, killed)).expectBreaches(t, "CLE-01")
	stood().wait(4*time.Minute).ready("a", 200).expectBreaches(t, "CLE-01")
	later(stood().manager("a", history.ProcessPaused, "")).expectBreaches(t, "CLE-01")
	later(controlPlane("1.2.0").manager("a", history.ProcessExited, killed).manager("a", history.ProcessStarted, "").declare("a_2", managersLease, "1.2.0").deleteCandidate("a_1")).expectBreaches(t, "CLE-01")
}

// While the API server of a member starts, its instances can neither declare candidates nor answer pings.
func TestCLE01_CLE03_NothingIsOwedWhileTheServerOfTheMemberStarts(t *testing.T) {
	const second = time.Second
	booting := func() *electionBuilder {
		return controlPlane("1.2.0").endServer("b", 1).startServer("b", 2).manager("b", history.ProcessStarted, "")
	}
	booting().waitWithChanges(40*second).ready("b", 200).wait(3*second).declare("b_1", managersLease, "1.2.0").expectBreaches(t, "CLE-01")
	booting().ready("b", 200).waitWithChanges(40*second).expectBreaches(t, "CLE-01", "the controller-manager of b ran and was no candidate for 40s")

	asked := func() *electionBuilder {
		told := controlPlane("1.2.0", "1.2.0").endServer("b", 1).startServer("b", 2)
		return told
	}
	asked().ping("b_1", managersLease, "1.2.0", 0).waitWithChanges(14*second).ready("b", 200).expectBreaches(t, "CLE-03")
	asked().ready("b", 200).ping("b_1", managersLease, "1.2.0", 0).waitWithChanges(14*second).expectBreaches(t, "CLE-03", "did not answer")
	// Nor behind one that answers no client any more, until it does again.
	hangs := func() *electionBuilder {
		return asked().ready("b", 200).ping("b_1", managersLease, "1.2.0", 0).wait(second).ready("b", 0).waitWithChanges(14 * second)
	}
	hangs().expectBreaches(t, "CLE-03")
	hangs().ready("b", 200).waitWithChanges(14*second).expectBreaches(t, "CLE-03", "did not answer")

	// An instance that was started without coordination declares nothing.
	without := controlPlane("1.2.0").add(history.Event{Kind: history.KindProcess, Member: "b", Process: &history.Process{
		Component: history.ComponentControllerManager, Change: history.ProcessStarted, DisabledFeatures: []string{history.FeatureCoordination},
	}})
	without.waitWithChanges(40*second).expectBreaches(t, "CLE-01")
	// An instance that was paused has to declare itself when it goes on.
	still := func() *electionBuilder {
		return controlPlane("1.2.0").manager("b", history.ProcessStarted, "").manager("b", history.ProcessPaused, "").waitWithChanges(20*second).manager("b", history.ProcessResumed, "")
	}
	still().waitWithChanges(20*second).expectBreaches(t, "CLE-01")
	controlPlane("1.2.0").manager("b", history.ProcessStarted, "").manager("b", history.ProcessPaused, "").declare("b_1", managersLease, "1.2.0").
		waitWithChanges(20*second).manager("b", history.ProcessResumed, "").waitWithChanges(40*second).expectBreaches(t, "CLE-01")
	still().waitWithChanges(40*second).expectBreaches(t, "CLE-01", "was no candidate")
}

// A candidate of which the recorder tells late may be that of a process that has ended.
func TestCLE01_ACandidateToldLateIsComparedWithTheProcessThatDeclaredIt(t *testing.T) {
	s := time.Second
	runs := func(t *electionBuilder, change, exit, release string) *electionBuilder {
		return t.add(history.Event{Kind: history.KindProcess, Member: "b", Process: &history.Process{
			Component: history.ComponentControllerManager, Change: change, Exit: exit, Release: release, Expected: exit == killed}})
	}
	replaced := func() *electionBuilder {
		t := runs(controlPlane("1.2.0").waitWithoutEtcd(2*s), history.ProcessStarted, "", "1.2").waitWithoutEtcd(5 * s)
		return runs(runs(t, history.ProcessExited, killed, "1.2").waitWithoutEtcd(s), history.ProcessStarted, "", "1.3").waitWithoutEtcd(6 * s)
	}
	wrong := `candidate kube-system/b_1 says that it is "1.2.0", behaves like "1.2.0", and b runs 1.3`
	replaced().etcdDelayed(13*s).declare("b_1", managersLease, "1.2.0").deleteCandidate("b_1").declare("b_2", managersLease, "1.3.0").waitWithChanges(10*s).expectBreaches(t, "CLE-01")
	replaced().declare("b_1", managersLease, "1.2.0").expectBreaches(t, "CLE-01", wrong)
	replaced().etcdDelayed(4*s).waitWithChanges(8*s).declare("b_1", managersLease, "1.2.0").expectBreaches(t, "CLE-01", wrong)
	// No process before it was of this release.
	replaced().etcdDelayed(13*s).declare("b_1", managersLease, "1.1.0").expectBreaches(t, "CLE-01", `says that it is "1.1.0"`)
}

// A candidate says the release of the binaries and the version that they emulate (KEP-4330).
func TestCLE01_ACandidateSaysWhatItsProcessEmulates(t *testing.T) {
	declared := func(release, emulates string) *electionBuilder {
		b := controlPlane("1.2.0")
		b.add(history.Event{Kind: history.KindProcess, Member: "b", Process: &history.Process{
			Component: history.ComponentControllerManager, Change: history.ProcessStarted, Release: release,
		}})
		b.declare("b_1", managersLease, "1.3.0")
		for _, event := range b.events {
			if event.Stored != nil && event.Stored.Candidate != nil && event.Stored.Key == "/registry/leasecandidates/kube-system/b_1" {
				event.Stored.Candidate.Emulation = emulates
			}
		}
		return b.waitWithChanges(40 * time.Second)
	}
	declared("1.3 emulating 1.2", "1.2.0").expectBreaches(t, "CLE-01")
	declared("1.3", "1.3.0").expectBreaches(t, "CLE-01")
	declared("1.3 emulating 1.2", "1.3.0").expectBreaches(t, "CLE-01", `behaves like "1.3.0", and b runs 1.3 emulating 1.2`)
	declared("1.3", "1.2.0").expectBreaches(t, "CLE-01", `behaves like "1.2.0", and b runs 1.3`)
}
