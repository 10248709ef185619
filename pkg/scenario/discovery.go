package scenario

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/observe"
	"github.com/evenkeel/evenkeel/pkg/workload/faultybackend"
)

const (
	// aggregatedGroup is below which the groups of the backends are, and churnGroup
	// that of what a churn defines.
	aggregatedGroup = "aggregated.evenkeel.dev"
	churnGroup      = "churn.evenkeel.dev"
	// usualNamespace is where the Services of backends are in a cluster that goes with
	// the run.
	usualNamespace = "default"
	// doesAnswer has a backend behave again.
	doesAnswer = "answer"

	crdGroup, crdResource         = "apiextensions.k8s.io", "customresourcedefinitions"
	serviceGroup, serviceResource = "apiregistration.k8s.io", "apiservices"
)

// definable are the versions that a custom resource can have; the first is the
// one that it is stored in unless the step says otherwise.
var definable = []string{"v1", "v1beta1", "v1alpha1"}

// aggregated is an aggregated server of the harness.
type aggregated struct {
	*faultybackend.Server
	name string
	// faults counts how often it was made to misbehave.
	faults int
	// does is the current misbehavior, and bitten whether a request has met it.
	does   string
	bitten bool
	// grown is whether it hosts one resource more than at first.
	grown bool
	// versions are those of its group that are handed on to it, and priority that of their
	// APIServices.
	versions []string
	priority int
}

// groupOf is the group that a backend hosts.
func groupOf(backend string) string { return backend + "." + aggregatedGroup }

func definesOne(crd, group, backend string) error {
	if (crd == "") == (backend == "") || (crd == "") != (group == "") {
		return errors.New("needs either crd and group, or backend")
	}
	return nil
}

// startBackends starts the scenario's aggregated servers. API servers do not know them until
// a step creates their APIServices.
func (r *Runner) startBackends(host string) error {
	for _, name := range r.Scenario.Discovery.Backends {
		server, err := faultybackend.Start(host, groupOf(name), r.Clock.Now())
		if err != nil {
			return err
		}
		r.backends[name] = &aggregated{Server: server, name: name}
	}
	return nil
}

func (r *Runner) stopBackends() {
	for _, backend := range r.backends {
		// Stop cuts its connections; an error of that concerns no request of the run.
		_ = backend.Stop()
	}
}

// backendOf is a running backend; there is none if the control plane could not
// be reached when they were to be started.
func (r *Runner) backendOf(name string) (*aggregated, error) {
	if backend := r.backends[name]; backend != nil {
		return backend, nil
	}
	return nil, fmt.Errorf("the backend %s was not started", name)
}

// define has something hosted.
func (r *Runner) registerAPI(ctx context.Context, member string, registerAPI *RegisterAPI) error {
	if registerAPI.Backend == "" {
		return r.defineCRD(ctx, member, registerAPI)
	}
	backend, err := r.backendOf(registerAPI.Backend)
	if err != nil {
		return err
	}
	versions := registerAPI.BackendVersions
	if len(versions) == 0 {
		versions = []string{faultybackend.Version}
	}
	if err := r.defineBackend(ctx, member, backend, versions...); err != nil {
		return err
	}
	return r.bite(ctx, backend)
}

// undefine takes something back.
func (r *Runner) unregisterAPI(ctx context.Context, member string, unregisterAPI *UnregisterAPI) error {
	if unregisterAPI.Backend == "" {
		return r.undefineCRD(ctx, member, unregisterAPI.CRD, unregisterAPI.Group)
	}
	backend, err := r.backendOf(unregisterAPI.Backend)
	if err != nil {
		return err
	}
	return r.undefineBackend(ctx, member, backend)
}

// absentWebhook is where no webhook listens: the port is that of a service that discards what
// it gets and speaks no TLS, if any process listens there.
const absentWebhook = "https://127.0.0.1:9/convert"

// defineCRD makes a CustomResourceDefinition, or changes the versions that one
// serves, or the one that it stores.
func (r *Runner) defineCRD(ctx context.Context, member string, d *RegisterAPI) error {
	plural, group, storage, versions := d.CRD, d.Group, d.Storage, d.Versions
	name := plural + "." + group
	if storage == "" {
		storage = definable[0]
	}
	var listed []any
	for _, version := range definable {
		listed = append(listed, map[string]any{
			"name": version, "served": slices.Contains(versions, version), "storage": version == storage,
			"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
		})
	}
	kind := strings.ToUpper(plural[:1]) + plural[1:]
	names := map[string]any{"plural": plural, "singular": strings.TrimSuffix(plural, "s"), "kind": kind, "listKind": kind + "List"}
	if len(d.ShortNames) > 0 {
		names["shortNames"] = d.ShortNames
	}
	spec := map[string]any{"group": group, "scope": "Namespaced", "versions": listed, "names": names}
	if d.ConversionDown {
		spec["conversion"] = map[string]any{"strategy": "Webhook", "webhook": map[string]any{
			"clientConfig": map[string]any{"url": absentWebhook}, "conversionReviewVersions": []any{"v1"},
		}}
	}
	wanted := map[string]any{
		"apiVersion": crdGroup + "/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": name}, "spec": spec,
	}
	return r.put(ctx, member, crdGroup, crdResource, name, wanted, &history.Definition{Group: group, Resource: plural, Versions: versions, ShortNames: slices.Sorted(slices.Values(d.ShortNames)), Stored: storage})
}

// undefineCRD deletes a CustomResourceDefinition, which is gone once no object is left. What
// populations hold of them is let go of after the deletion was asked for, as a controller lets go
// of its objects when it sees that they are deleted.
func (r *Runner) undefineCRD(ctx context.Context, member, plural, group string) error {
	name := plural + "." + group
	if err := r.askToDelete(ctx, member, crdGroup, crdResource, name, &history.Definition{Group: group, Resource: plural}); err != nil {
		return err
	}
	if err := r.releaseOf(ctx, member, group, plural); err != nil {
		return err
	}
	return r.awaitRemoved(ctx, member, crdGroup, crdResource, name)
}

// defineBackend creates the APIServices of versions of a backend's group, or changes their
// priority, so that API servers ask the backend for discovery again.
func (r *Runner) defineBackend(ctx context.Context, member string, backend *aggregated, versions ...string) error {
	service := "evenkeel-" + backend.name
	namespace := r.backendNamespace()
	if len(backend.versions) == 0 {
		if err := r.makeNamespace(ctx, member, namespace); err != nil {
			return err
		}
		r.made.note(observe.Call{Version: "v1", Resource: "services", Namespace: namespace, Name: service})
		err := r.send(ctx, member, observe.Call{Verb: "create", Version: "v1", Resource: "services", Namespace: namespace,
			Body: externalService(service, namespace, backend.Host(), backend.Port())}, http.StatusConflict)
		if err != nil {
			return err
		}
	}
	backend.priority = otherPriority(backend.priority)
	for _, version := range versions {
		// Their order stays while their priorities become others, one after the other.
		priority := backend.priority - versionGap*slices.Index(faultybackend.Versions, version)
		with := slices.Clone(backend.versions)
		if !slices.Contains(with, version) {
			with = append(with, version)
		}
		err := r.put(ctx, member, serviceGroup, serviceResource, version+"."+backend.Group(),
			registration(backend.Group(), version, priority, service, namespace, backend.Port()),
			&history.Definition{Remote: true, Group: backend.Group(), Versions: with})
		if err != nil {
			return err
		}
		backend.versions = with
	}
	return nil
}

const (
	// usualPriority is the versionPriority of an APIService.
	usualPriority = 15
	// versionGap is by how much that of each further version is less.
	versionGap = 5
)

// otherPriority is one of two priorities, and not the one from before.
func otherPriority(before int) int {
	if before == usualPriority {
		return usualPriority + 1
	}
	return usualPriority
}

// undefineBackend deletes the APIServices of a backend, one after the other. Of one that is not
// known to have any, a request that was not answered may have made the first.
func (r *Runner) undefineBackend(ctx context.Context, member string, backend *aggregated) error {
	goes := backend.versions
	if len(goes) == 0 {
		goes = []string{faultybackend.Version}
	}
	for i, version := range goes {
		backend.versions = goes[i+1:]
		err := r.remove(ctx, member, serviceGroup, serviceResource, version+"."+backend.Group(),
			&history.Definition{Remote: true, Group: backend.Group(), Versions: slices.Clone(backend.versions)})
		if err != nil {
			return err
		}
	}
	return nil
}

// put makes an object, or gives one that is there another spec.
func (r *Runner) put(ctx context.Context, member, group, resource, name string, wanted map[string]any, defines *history.Definition) error {
	if err := r.ensureOwner(ctx); err != nil {
		return err
	}
	client, err := r.client(member)
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := r.within(ctx, DefineTimeout, history.AwaitedAnswer, member, "%s %s was not taken", resource, name)
	defer cancel()
	r.made.note(observe.Call{Group: group, Version: "v1", Resource: resource, Name: name})
	r.owned.Note(resource, name)
	for {
		call := observe.Call{Class: history.ClassGuarded, Verb: "create", Group: group, Version: "v1", Resource: resource, Name: name, Body: wanted, Defines: defines}
		found := client.Get(ctx, observe.GroupVersionPath(group, "v1")+"/"+resource+"/"+name)
		if found.OK() {
			var now map[string]any
			if err := json.Unmarshal(found.Body, &now); err != nil {
				return notThere(member, "read %s %s from %s: the answer is no such object: %v", resource, name, member, err)
			}
			now["spec"] = wanted["spec"]
			call.Verb, call.Body = "update", now
		}
		answer := client.Do(ctx, call)
		if answer.OK() {
			return nil
		}
		// A conflict passes, and so does an object that is being deleted.
		if answer.Code >= 400 && answer.Code < 500 && answer.Code != http.StatusConflict && answer.Code != http.StatusTooManyRequests {
			return refused(call, member, answer)
		}
		if waited := r.wait(ctx, observe.RetryInterval); waited != nil {
			return errors.Join(waited, refused(call, member, answer))
		}
	}
}

// remove deletes an object and waits until it is gone, so that what comes next
// does not meet it.
func (r *Runner) remove(ctx context.Context, member, group, resource, name string, defines *history.Definition) error {
	if err := r.askToDelete(ctx, member, group, resource, name, defines); err != nil {
		return err
	}
	return r.awaitRemoved(ctx, member, group, resource, name)
}

// askToDelete sends the deletion of an object, until it is answered.
func (r *Runner) askToDelete(ctx context.Context, member, group, resource, name string, defines *history.Definition) error {
	return r.send(ctx, member, observe.Call{Verb: "delete", Group: group, Version: "v1", Resource: resource, Name: name, Defines: defines}, http.StatusNotFound)
}

// awaitRemoved waits until an object is not found any more.
func (r *Runner) awaitRemoved(ctx context.Context, member, group, resource, name string) error {
	client, err := r.client(member)
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := r.within(ctx, GoneTimeout, history.AwaitedState, member, "%s %s was not gone", resource, name)
	defer cancel()
	for client.Get(ctx, observe.GroupVersionPath(group, "v1")+"/"+resource+"/"+name).Code != http.StatusNotFound {
		if err := r.wait(ctx, observe.RetryInterval); err != nil {
			return err
		}
	}
	return nil
}

// send sends a write until it is answered with success, or with the code that is
// as good.
func (r *Runner) send(ctx context.Context, member string, call observe.Call, asGood int) error {
	client, err := r.client(member)
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := r.within(ctx, DefineTimeout, history.AwaitedAnswer, member, "%s %s %s was not taken", call.Verb, call.Resource, call.Name)
	defer cancel()
	call.Class = history.ClassGuarded
	for {
		answer := client.Do(ctx, call)
		if answer.OK() || answer.Code == asGood {
			return nil
		}
		if answer.Code >= 400 && answer.Code < 500 && answer.Code != http.StatusTooManyRequests {
			return refused(call, member, answer)
		}
		if waited := r.wait(ctx, observe.RetryInterval); waited != nil {
			return errors.Join(waited, refused(call, member, answer))
		}
	}
}

// setBackendBehavior changes the behavior of a backend, and waits until a request has met a
// misbehavior if the backend's APIService exists.
func (r *Runner) setBackendBehavior(ctx context.Context, step *SetBackendBehavior) error {
	backend, err := r.backendOf(step.Name)
	if err != nil {
		return err
	}
	if backend.does != "" {
		r.tellBackend(backend, history.PhaseHeal, "")
	}
	does := step.Behavior
	if does == doesAnswer {
		does = ""
	}
	backend.does, backend.bitten = does, does == ""
	backend.SpeakUnaggregated(step.Unaggregated)
	backend.HideGroups(step.WithoutGroups)
	r.growBackend(backend, step.Grown)
	if does != "" {
		backend.faults++
		r.tellBackend(backend, history.PhaseInject, "")
	}
	if err := backend.Behave(does); err != nil {
		return err
	}
	if does != "" && len(backend.versions) > 0 {
		if err := r.defineBackend(ctx, r.members()[0], backend, backend.versions...); err != nil {
			return err
		}
		if err := r.bite(ctx, backend); err != nil {
			return err
		}
	}
	if step.For == 0 {
		return nil
	}
	return r.wait(ctx, step.For)
}

// growBackend has a backend host more, or again less, and tells of it if that is a change.
func (r *Runner) growBackend(backend *aggregated, grown bool) {
	if backend.grown == grown {
		return
	}
	from := r.History.Now()
	backend.grown = grown
	r.History.Record(history.Event{Kind: history.KindBackendUpdate, From: from, BackendUpdate: &history.BackendUpdate{
		Group: backend.Group(), Resources: backend.Grow(grown),
	}})
}

// bite waits for the witness of a backend's misbehavior, if it has none yet: as
// many requests as there are members, each of which has reason to ask. Without it
// the run goes on: what it shows is worth nothing, and the history says so.
func (r *Runner) bite(ctx context.Context, backend *aggregated) error {
	if backend.bitten || backend.does == "" {
		return nil
	}
	since := r.History.Now()
	bounded, cancel := context.WithTimeoutCause(ctx, BiteTimeout, fmt.Errorf("within %s", BiteTimeout))
	defer cancel()
	proof, err := backend.Bitten(bounded, len(r.members()))
	if err != nil {
		r.passOver(ctx, since, BiteTimeout, history.AwaitedState, "", "the backend %s was not asked by as many as there are members", backend.name)
		return ctx.Err()
	}
	backend.bitten = true
	r.tellBackend(backend, history.PhaseWitness, proof)
	return nil
}

func (r *Runner) tellBackend(backend *aggregated, phase history.Phase, proof string) {
	r.History.Record(history.Event{Kind: history.KindFault, Fault: &history.Fault{
		ID: fmt.Sprintf("backend-%s-%d", backend.name, backend.faults), Type: history.FaultBackend, Action: backend.does,
		Group: backend.Group(), Phase: phase, Proof: proof,
	}})
}

// churnNames are what the resources that a churn defines are called, with a number where
// there are more of them.
var churnNames = []string{"anchors", "buoys", "capstans", "davits"}

// churnResources are that many resources; as many as there are names if it is 0.
func churnResources(count int) []string {
	if count == 0 {
		count = len(churnNames)
	}
	var resources []string
	for i := range count {
		name := churnNames[i%len(churnNames)]
		if n := i / len(churnNames); n > 0 {
			name = fmt.Sprintf("%s%ds", strings.TrimSuffix(name, "s"), n)
		}
		resources = append(resources, name)
	}
	return resources
}

// churn plays changes, and takes back what they and those before them made
// unless it is to be kept.
func (r *Runner) churn(ctx context.Context, members []string, churn *Churn) error {
	var backend *aggregated
	resources := churnResources(churn.Resources)
	if churn.Backend != "" {
		var err error
		if backend, err = r.backendOf(churn.Backend); err != nil {
			return err
		}
		resources = append(resources, churn.Backend)
	}
	there := r.churned
	through := func() string { return members[r.Rand.IntN(len(members))] }
	until := r.Clock.Now().Add(churn.For)
	for round := 0; round < churn.Rounds || r.Clock.Now().Before(until); round++ {
		one := resources[r.Rand.IntN(len(resources))]
		// Two of three changes add or alter, so that there is always something.
		goes := there[one] && r.Rand.IntN(3) == 0
		there[one] = !goes
		var err error
		switch {
		case one == churn.Backend && goes:
			err = r.undefineBackend(ctx, through(), backend)
		case one == churn.Backend:
			err = r.defineBackend(ctx, through(), backend, faultybackend.Version)
		case goes:
			err = r.undefineCRD(ctx, through(), one, churnGroup)
		default:
			err = r.defineCRD(ctx, through(), &RegisterAPI{CRD: one, Group: churnGroup, Versions: r.someVersions()})
		}
		if err != nil {
			return err
		}
		pause := ChurnPauseLeast + time.Duration(r.Rand.Int64N(int64(ChurnPauseMost-ChurnPauseLeast)))
		if err := r.wait(ctx, pause); err != nil {
			return err
		}
	}
	if churn.Keep {
		return nil
	}
	for _, one := range slices.Sorted(maps.Keys(there)) {
		if !there[one] {
			continue
		}
		var err error
		if backend := r.backends[one]; backend != nil {
			err = r.undefineBackend(ctx, through(), backend)
		} else {
			err = r.undefineCRD(ctx, through(), one, churnGroup)
		}
		if err != nil {
			return err
		}
		there[one] = false
	}
	return nil
}

// someVersions are at least one of those that can be defined.
func (r *Runner) someVersions() []string {
	count := 1 + r.Rand.IntN(len(definable))
	var versions []string
	for _, i := range r.Rand.Perm(len(definable))[:count] {
		versions = append(versions, definable[i])
	}
	slices.Sort(versions)
	return versions
}
