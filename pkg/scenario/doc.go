// Package scenario plays a scenario file against a control plane: the steps in order, with
// the recorders and the traffic around them. It judges nothing; its result is a history.
//
// # Whose failure it is
//
// A step fails because of the control plane or because of the harness, and the two must
// never be confused: a failure of the control plane is evidence, a failure of the harness
// makes the run useless.
//
// The control plane has not reached what a step waits for: a component that was started
// and does not become ready, or keeps exiting, with whatever its log says; a process that
// has ended though no step has ended it; an API server that does not do what a request
// asks for, or does not answer; an object that does not come to have a state; a component
// without a leader; an etcd that answers at no member, or is not whole again after a power
// cut; StorageVersions that do not come to rest; a step that takes longer than its bound
// because of any of these. Each is recorded as a history.NotReached with the last
// evidence, the step counts as failed, what it has injected is healed, and the next step
// is played. One that cannot be played without what is missing is recorded as left out,
// with the reason. At the end the history is complete, and history.End lists what was not
// reached.
//
// The harness or its machine has failed: a missing binary or image, a full disk, a port
// that is taken, a fault that did not last, a link that could not be healed, a hook that
// failed, a recorder that does not keep up with an etcd that answers, an error of an
// unknown kind, a run that was interrupted. The run ends there, and the
// history is not complete. The log of a component that is not ready is read for failures
// of the machine first (cluster.MachineFailure): a full disk says nothing
// about the control plane. If an error has both causes, the run ends, and the findings are
// recorded.
//
// Three cases are less clear than that. An answer from 400 to 499 may be wrong or right:
// the run goes on, and the event has the code for those who judge. Where no member has
// come to serve at the boot, the topology may be as wrong as the control plane, and the
// run is spoilt. A machine that is too busy makes answers late: the bounds are well above
// what an idle one needs, and no more than that can be told from inside.
//
// A broken run ends in bounded time. Each wait has its bound; a member that was waited
// for in vain is waited for only shortly by the holds after that (AgainTimeout); all
// failed steps together may take VainTimeout; and after a failed step in which no member
// serves for ServiceTimeout no further step is played. Both ends are findings about the
// control plane.
//
// Some waits end without effect on the step, since requirements of their own judge what
// is waited for: the end of a migration, the outcome of an election, what clients are
// shown. Their events are marked as judged.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package scenario
