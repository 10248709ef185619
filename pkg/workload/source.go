package workload

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/observe"
)

// lookAgain is how long a resource that a server does not have is not asked
// for again.
const lookAgain = 500 * time.Millisecond

// patchEvery makes every so many-th write to a built-in object a patch, so that
// what is true of updates is seen to be true of those.
const patchEvery = 5

// state is what a Source knows of one of its objects.
type state int

const (
	unknown state = iota
	absent
	present
)

type slot struct {
	state           state
	resourceVersion int64
}

// Source makes one stream of writes: objects of one workload that one member
// owns, so that only this Source changes them and the outcome of each write is
// known from its answer alone.
type Source struct {
	workload *Workload
	member   string
	prefix   string
	tagger   *Tagger
	clock    clock.PassiveClock
	// finalizers that its objects have.
	finalizers []string

	mu       sync.Mutex
	versions []string // that the server serves and the workload has
	lookAt   time.Time
	// hidden is whether the server has said that it does not have the resource.
	hidden bool
	// watched is whether it must be told when that was not true: a server that
	// boots is not written to meanwhile.
	watched bool
	slots   []slot
	turn    int
}

// NewSource makes a stream of objects named <run>-<member>-<role><n>. Two
// streams of a member and workload must differ in their role.
func NewSource(w *Workload, run, member, role string, tagger *Tagger, clk clock.PassiveClock) *Source {
	return &Source{
		workload: w, member: member, prefix: run + "-" + member + "-" + role, tagger: tagger, clock: clk,
		slots: fresh(w.Spec.Keep),
	}
}

// fresh returns slots whose objects do not exist yet: their names contain the name of the
// run, so no earlier run has created them.
func fresh(n int) []slot { return slices.Repeat([]slot{{state: absent}}, n) }

// Reset makes the Source ask anew which versions the server serves, as is
// needed when another process answers than before.
func (s *Source) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.versions, s.lookAt, s.hidden = nil, time.Time{}, false
}

// Write sends the next write, or the read that is needed to know what that
// would be; ok is false where the server does not have the resource.
func (s *Source) Write(ctx context.Context, client *observe.Client) (answer observe.Answer, ok bool) {
	version, turn, ok := s.next(ctx, client)
	if !ok {
		return observe.Answer{}, false
	}
	index := turn % len(s.slots)
	slot := s.slots[index]
	call := s.call(index, version)
	switch every := s.workload.Spec.DeleteEvery; {
	case slot.state == unknown:
		call.Class, call.Verb = history.ClassRead, "get"
	case slot.state == absent:
		call.Verb = "create"
		s.fill(&call, index, slot)
	case every > 0 && turn%every == every-1:
		call.Verb = "delete"
	case call.Class == history.ClassGuarded && turn%patchEvery == patchEvery-1:
		call.Verb = "patch"
		s.fill(&call, index, slot)
	default:
		call.Verb = "update"
		s.fill(&call, index, slot)
	}
	answer = client.Do(ctx, call)
	s.slots[index] = after(call.Verb, slot, answer)
	return answer, true
}

// Len is how many objects the Source has.
func (s *Source) Len() int { return len(s.slots) }

// Ensure sends what one of the objects needs if it is not there yet; there is
// whether it is. Several may be seen to at the same time, each by one caller.
func (s *Source) Ensure(ctx context.Context, client *observe.Client, index int) (there bool) {
	slot := s.slots[index]
	if slot.state == present {
		return true
	}
	version, _, ok := s.next(ctx, client)
	if !ok {
		return false
	}
	call := s.call(index, version)
	if slot.state == unknown {
		call.Class, call.Verb = history.ClassRead, "get"
	} else {
		call.Verb = "create"
		s.fill(&call, index, slot)
	}
	s.slots[index] = after(call.Verb, slot, client.Do(ctx, call))
	return s.slots[index].state == present
}

// Serves is whether the server has the resource; known is whether it answered the
// question.
func (s *Source) Serves(ctx context.Context, client *observe.Client) (serves, known bool) {
	versions, known := s.served(ctx, client)
	return len(versions) > 0, known
}

// Read gets one of the objects; ok is as for Write.
func (s *Source) Read(ctx context.Context, client *observe.Client) (answer observe.Answer, ok bool) {
	s.mu.Lock()
	versions, turn := s.versions, s.turn
	s.mu.Unlock()
	if len(versions) == 0 {
		return observe.Answer{}, false
	}
	call := s.call(turn%len(s.slots), versions[turn%len(versions)])
	call.Class, call.Verb = history.ClassRead, "get"
	return client.Do(ctx, call), true
}

// next chooses the version and object of the next write.
func (s *Source) next(ctx context.Context, client *observe.Client) (version string, turn int, ok bool) {
	s.mu.Lock()
	versions, lookAt := s.versions, s.lookAt
	s.mu.Unlock()
	if len(versions) == 0 {
		if s.clock.Now().Before(lookAt) {
			return "", 0, false
		}
		found, known := s.served(ctx, client)
		s.mu.Lock()
		s.versions = found
		if known && len(found) == 0 {
			s.lookAt = s.clock.Now().Add(lookAgain)
		}
		late := s.hidden && s.watched && len(found) > 0
		s.hidden = known && len(found) == 0
		s.mu.Unlock()
		if late {
			client.Missed(fmt.Sprintf("the server that boots said that it did not have %s, and has it: it was not written to meanwhile", s.workload.Spec.Resource))
		}
		versions = found
	}
	if len(versions) == 0 {
		return "", 0, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	turn = s.turn
	s.turn++
	// The versions change once in a round of the objects, so that each object
	// is written in all of them.
	return versions[(turn/len(s.slots)+turn)%len(versions)], turn, true
}

// served are the versions that both sides have; known is whether the server
// answered the question.
func (s *Source) served(ctx context.Context, client *observe.Client) (versions []string, known bool) {
	mine := slices.Sorted(maps.Keys(s.workload.Spec.Versions))
	if s.workload.Spec.Group == "" {
		return mine, true
	}
	answer := client.Get(ctx, "/apis/"+s.workload.Spec.Group)
	var group struct {
		Versions []struct {
			Version string `json:"version"`
		} `json:"versions"`
	}
	switch {
	case answer.Code == http.StatusNotFound:
		return nil, true
	case answer.Code != http.StatusOK || json.Unmarshal(answer.Body, &group) != nil:
		return nil, false
	}
	for _, served := range group.Versions {
		if !slices.Contains(mine, served.Version) {
			continue
		}
		// A version of the group need not have the resource.
		has, known := s.has(ctx, client, served.Version)
		if !known {
			return nil, false
		}
		if has {
			versions = append(versions, served.Version)
		}
	}
	return versions, true
}

// has is whether the server serves the resource in a version of its group, and
// known whether it answered the question.
func (s *Source) has(ctx context.Context, client *observe.Client, version string) (has, known bool) {
	answer := client.Get(ctx, observe.GroupVersionPath(s.workload.Spec.Group, version))
	var list struct {
		Resources []struct {
			Name string `json:"name"`
		} `json:"resources"`
	}
	switch {
	case answer.Code == http.StatusNotFound:
		return false, true
	case answer.Code != http.StatusOK || json.Unmarshal(answer.Body, &list) != nil:
		return false, false
	}
	for _, resource := range list.Resources {
		if resource.Name == s.workload.Spec.Resource {
			return true, true
		}
	}
	return false, true
}

func (s *Source) call(index int, version string) observe.Call {
	return observe.Call{
		Class:     s.workload.Spec.class(),
		Group:     s.workload.Spec.Group,
		Version:   version,
		Resource:  s.workload.Spec.Resource,
		Namespace: s.workload.Spec.Namespace,
		Name:      fmt.Sprintf("%s%d", s.prefix, index),
	}
}

// fill gives a create, update or patch its number and body.
func (s *Source) fill(call *observe.Call, index int, slot slot) {
	call.Write = s.tagger.Next(s.member)
	metadata := map[string]any{
		"name":        call.Name,
		"annotations": map[string]string{observe.WriteAnnotation: observe.Tag(s.member, call.Write)},
	}
	if call.Verb == "patch" {
		call.Body = map[string]any{"metadata": map[string]any{"annotations": metadata["annotations"]}}
		return
	}
	if call.Namespace != "" {
		metadata["namespace"] = call.Namespace
	}
	if len(s.finalizers) > 0 {
		metadata["finalizers"] = s.finalizers
	}
	if call.Verb == "update" && slot.resourceVersion != 0 {
		metadata["resourceVersion"] = strconv.FormatInt(slot.resourceVersion, 10)
	}
	apiVersion := call.Version
	if call.Group != "" {
		apiVersion = call.Group + "/" + call.Version
	}
	body := map[string]any{}
	if contents := s.workload.Spec.Versions[call.Version]; len(contents) > 0 {
		maps.Copy(body, contents[index%len(contents)])
	}
	body["apiVersion"], body["kind"], body["metadata"] = apiVersion, s.workload.Spec.Kind, metadata
	call.Body = body
}

// after is what is known of an object once a request for it was answered.
func after(verb string, before slot, answer observe.Answer) slot {
	switch {
	case answer.Refused, answer.Code == http.StatusServiceUnavailable, answer.Code == http.StatusTooManyRequests:
		return before // the server did nothing
	case answer.OK() && verb == "delete", answer.Code == http.StatusNotFound && verb != "create":
		return slot{state: absent}
	case answer.OK():
		return slot{state: present, resourceVersion: answer.ResourceVersion}
	default:
		return slot{state: unknown}
	}
}
