package history

import (
	"fmt"
	"slices"
)

// The values that the format closes: an event with any other one would be passed over by
// all checks. Types and actions of faults, components and steps are open, because they name
// what the topology and the scenario name. A test holds the lists to the constants.
var (
	stepPhases  = []Phase{PhaseBegin, PhaseEnd, PhaseFailed, PhaseSkipped}
	holdPhases  = []Phase{PhaseBegin, PhaseEnd, PhaseFailed}
	faultPhases = []Phase{PhaseInject, PhaseWitness, PhaseHeal}

	processChanges = []string{ProcessStarted, ProcessStopping, ProcessExited, ProcessPaused, ProcessResumed}
	storedTypes    = []string{StoredPut, StoredDelete}
	watchTypes     = []string{WatchOpened, WatchBroken, "ADDED", "MODIFIED", "DELETED"}

	requestClasses = []string{ClassGuarded, ClassRead, ClassReview, ClassCustom, ClassAggregated, ClassInvalid, ClassMigration, ClassElection}
	invalidValues  = []string{
		"", InvalidUndecodable, InvalidAgreement, InvalidDuplicate,
		InvalidResource, InvalidGroup, InvalidChange, InvalidOutcome, InvalidBoth, InvalidCheckpoint,
	}
	electionValues = []string{
		"", ElectionDelete, ElectionAbsentHolder, ElectionMalformed, ElectionParticipate, ElectionLegacy, ElectionFields, ElectionAssign, ElectionChoose,
	}
)

// valueProblem is that a field has a value that the format does not have.
func valueProblem(e *Event) string {
	switch {
	case e.Step != nil:
		return outside("phase", stepPhases, e.Step.Phase)
	case e.Hold != nil:
		return outside("phase", holdPhases, e.Hold.Phase)
	case e.Fault != nil:
		return outside("phase", faultPhases, e.Fault.Phase)
	case e.Process != nil:
		return outside("change", processChanges, e.Process.Change)
	case e.Stored != nil:
		return outside("type", storedTypes, e.Stored.Type)
	case e.Watch != nil:
		return outside("type", watchTypes, e.Watch.Type)
	case e.RecorderMissed != nil:
		return outside("source", recorderSources, e.RecorderMissed.Source)
	case e.RecorderDelayed != nil:
		return outside("source", recorderSources, e.RecorderDelayed.Source)
	case e.Request != nil:
		if problem := outside("class", requestClasses, e.Request.Class); problem != "" {
			return problem
		}
		if problem := outside("invalid", invalidValues, e.Request.Invalid); problem != "" {
			return problem
		}
		return outside("election", electionValues, e.Request.Election)
	}
	return ""
}

func outside[T ~string](field string, known []T, value T) string {
	if slices.Contains(known, value) {
		return ""
	}
	return fmt.Sprintf("has the %s %s, which this evenkeel does not know", field, shown(string(value)))
}
