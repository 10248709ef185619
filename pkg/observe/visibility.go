package observe

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/history"
)

const (
	// visibleNamespace is where the written ConfigMaps are, unless the options say otherwise.
	visibleNamespace = "default"
	// visibleLabel has the run as its value at each of them.
	visibleLabel = "evenkeel.dev/visibility"
)

// VisibilityOptions are what a Visibility is made of.
type VisibilityOptions struct {
	Members []string
	// RunID identifies the run; the objects are named after it.
	RunID string
	// Namespace has the written ConfigMaps; empty means default, which every control plane has.
	Namespace string
	// Allowed is whether one more write may be sent now; nil means always.
	Allowed func() bool
	// Config reaches a member's API server; it is asked until it succeeds.
	Config func(member string) (*rest.Config, error)
	// Ready is whether a member's API server is ready: others are neither written to nor
	// asked.
	Ready func(member string) bool
	// Next gives the number of a member's next tagged write.
	Next     func(member string) int64
	Recorder Recorder
	Clock    clock.WithTicker
}

// Visibility writes a ConfigMap through one member after the other, and asks all others
// whether they show each write that was acknowledged. The writes are recorded as requests
// like any other.
//
// What it misses: members that are not ready as the write is acknowledged, resources other
// than ConfigMaps, and what is under way when the run ends. A member that has too many
// questions under way leaves a gap.
type Visibility struct {
	VisibilityOptions
	members map[string]*visibleMember
}

// visibleMember is a member as it is written to and asked.
type visibleMember struct {
	name   string
	watch  visibleWatch
	asking chan struct{} // one place for each question under way

	mu     sync.Mutex
	client *Client // nil until it is known how the member is reached
	busy   bool    // whether a write through it is under way
	exists bool    // whether its ConfigMap is thought to exist
}

// NewVisibility makes the recorder.
func NewVisibility(options VisibilityOptions) *Visibility {
	options.Namespace = cmp.Or(options.Namespace, visibleNamespace)
	v := &Visibility{VisibilityOptions: options, members: map[string]*visibleMember{}}
	for _, name := range options.Members {
		v.members[name] = &visibleMember{name: name, asking: make(chan struct{}, visibilityUnderWay),
			watch: visibleWatch{changes: map[string][]visibleChange{}, moved: make(chan struct{})}}
	}
	return v
}

// Run writes and asks until the context ends.
func (v *Visibility) Run(ctx context.Context) {
	if len(v.Members) < 2 {
		return // there is no other member that could be asked
	}
	var running sync.WaitGroup
	defer running.Wait()
	for _, m := range v.members {
		running.Go(func() { v.follow(ctx, m) })
	}
	ticker := v.Clock.NewTicker(VisibilityInterval)
	defer ticker.Stop()
	for turn := 0; ; turn++ {
		select {
		case <-ticker.C():
		case <-ctx.Done():
			return
		}
		if v.Allowed != nil && !v.Allowed() {
			continue
		}
		if writer := v.writer(turn); writer != nil {
			running.Go(func() { v.write(ctx, &running, writer) })
		}
	}
}

// writer is the next member in turn that can be written to; nil if there is none.
func (v *Visibility) writer(turn int) *visibleMember {
	for i := range v.Members {
		m := v.members[v.Members[(turn+i)%len(v.Members)]]
		if !v.Ready(m.name) {
			continue
		}
		m.mu.Lock()
		free := m.client != nil && !m.busy
		m.busy = m.busy || free
		m.mu.Unlock()
		if free {
			return m
		}
	}
	return nil
}

// nameOf is the ConfigMap of a writer.
func (v *Visibility) nameOf(writer string) string { return v.RunID + "-" + writer + "-visible" }

// write writes through a member, and has the others asked if that is acknowledged.
func (v *Visibility) write(ctx context.Context, running *sync.WaitGroup, writer *visibleMember) {
	number := v.Next(writer.name)
	call := Call{Class: history.ClassGuarded, Verb: "update", Version: "v1", Resource: "configmaps", Namespace: v.Namespace, Name: v.nameOf(writer.name), Write: number,
		Body: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap",
			"metadata": map[string]any{"name": v.nameOf(writer.name), "namespace": v.Namespace,
				"labels": map[string]string{visibleLabel: v.RunID}, "annotations": map[string]string{WriteAnnotation: Tag(writer.name, number)}},
		}}
	writer.mu.Lock()
	if !writer.exists {
		call.Verb = "create"
	}
	client := writer.client
	writer.mu.Unlock()
	// A write that is cut off has no known outcome; it is bounded anyway.
	answer := client.Do(context.WithoutCancel(ctx), call)
	acknowledged := v.Recorder.Now()
	writer.mu.Lock()
	writer.busy = false
	switch {
	case answer.OK(), answer.Code == http.StatusConflict:
		writer.exists = true
	case answer.Code == http.StatusNotFound:
		writer.exists = false
	}
	writer.mu.Unlock()
	if !answer.OK() || answer.ResourceVersion == 0 {
		return
	}
	for _, name := range v.Members {
		m := v.members[name]
		if m == writer || !v.Ready(name) {
			continue
		}
		select {
		case m.asking <- struct{}{}:
			running.Go(func() {
				defer func() { <-m.asking }()
				v.ask(ctx, m, acknowledged, history.Visibility{Writer: writer.name, Write: number,
					Name: QualifiedName(v.Namespace, call.Name), ResourceVersion: answer.ResourceVersion})
			})
		default:
			v.Recorder.Record(history.Event{Kind: history.KindRecorderMissed, Member: name, RecorderMissed: &history.RecorderMissed{Source: history.SourceVisibility,
				Message: fmt.Sprintf("it was not asked about write %d of %s, since %d questions were under way", number, writer.name, visibilityUnderWay)}})
		}
	}
}

// ask asks a member in all three ways, and records the answers.
func (v *Visibility) ask(ctx context.Context, m *visibleMember, acknowledged int64, seen history.Visibility) {
	m.mu.Lock()
	client := m.client
	m.mu.Unlock()
	if client == nil {
		return
	}
	bounded, cancel := context.WithTimeout(ctx, VisibilityWait)
	defer cancel()
	_, name := splitName(seen.Name)
	path := GroupVersionPath("", "v1") + "/namespaces/" + v.Namespace + "/configmaps"
	var asking sync.WaitGroup
	asking.Go(func() {
		v.until(bounded, client, path+"/"+name, nil, &seen.Get, seen.ResourceVersion, func(answer Answer) (int64, bool) {
			return answer.ResourceVersion, answer.OK() || answer.Code == http.StatusNotFound
		})
	})
	asking.Go(func() {
		query := url.Values{"fieldSelector": {"metadata.name=" + name}, "resourceVersion": {strconv.FormatInt(seen.ResourceVersion, 10)},
			"resourceVersionMatch": {string(metav1.ResourceVersionMatchNotOlderThan)}}
		v.until(bounded, client, path, query, &seen.List, seen.ResourceVersion, listedRevision)
	})
	asking.Go(func() { seen.Watch = m.watch.await(bounded, name, seen.ResourceVersion) })
	asking.Wait()
	if ctx.Err() != nil {
		return // it was not asked to the end
	}
	v.Recorder.Record(history.Event{Kind: history.KindVisibility, Member: m.name, From: acknowledged, Visibility: &seen})
}

// listedRevision is the resourceVersion of the only object of a list, and whether the answer is a
// list.
func listedRevision(answer Answer) (int64, bool) {
	var list struct {
		Items []metav1.PartialObjectMetadata `json:"items"`
	}
	if !answer.OK() || json.Unmarshal(answer.Body, &list) != nil {
		return 0, false
	}
	if len(list.Items) == 0 {
		return 0, true
	}
	return number(list.Items[0].ResourceVersion), true
}

// until asks until the answer shows the revision or the context ends. The function reads
// the object's resourceVersion from an answer; tells is whether the answer tells of it.
func (v *Visibility) until(ctx context.Context, client *Client, path string, query url.Values, seen *history.Shown, revision int64, read func(Answer) (rv int64, tells bool)) {
	for ctx.Err() == nil {
		sent := v.Recorder.Now()
		answer := client.send(ctx, http.MethodGet, path, query, nil)
		if ctx.Err() != nil && answer.Code == 0 && seen.Asked > 0 {
			return // it was cut off; the answer before stands
		}
		seen.Asked++
		seen.Sent, seen.Code, seen.Error, seen.ResourceVersion, seen.At = sent, answer.Code, "", 0, 0
		if answer.Err != nil {
			seen.Error = shorten(answer.Err.Error())
		} else {
			seen.At = v.Recorder.Now()
			if !answer.OK() {
				seen.Error = shorten(answer.Message)
			}
		}
		if rv, tells := read(answer); tells {
			seen.ResourceVersion = rv
			if rv >= revision {
				return
			}
			seen.Stale = true
		}
		pause(ctx, v.Clock, RetryInterval)
	}
}

// follow keeps a member's client and watch until the context ends.
func (v *Visibility) follow(ctx context.Context, m *visibleMember) {
	client := connectUntil(ctx, m.name, func() (*rest.Config, error) { return v.Config(m.name) }, v.Recorder, v.Clock)
	if client == nil {
		return
	}
	defer client.Close()
	m.mu.Lock()
	m.client = client
	m.mu.Unlock()
	for ctx.Err() == nil {
		if v.Ready(m.name) {
			m.watch.lose(v.watch(ctx, client, &m.watch))
		}
		pause(ctx, v.Clock, RetryInterval)
	}
}

// watch lists and follows; it returns, always with an error, when that ended.
func (v *Visibility) watch(ctx context.Context, client *Client, into *visibleWatch) error {
	path := GroupVersionPath("", "v1") + "/namespaces/" + v.Namespace + "/configmaps"
	answer := client.send(ctx, http.MethodGet, path, url.Values{"labelSelector": {visibleLabel + "=" + v.RunID}}, nil)
	var list metav1.PartialObjectMetadataList
	if !answer.OK() || json.Unmarshal(answer.Body, &list) != nil {
		return fmt.Errorf("the list before the watch was answered %d: %s", answer.Code, answer.Message)
	}
	stream, err := client.openWatchOf(ctx, path, visibleLabel+"="+v.RunID, list.ResourceVersion)
	if err != nil {
		return err
	}
	defer func() { _ = stream.Close() }()
	into.open(v.Recorder.Now())
	for _, item := range list.Items {
		into.changed(item.Name, number(item.ResourceVersion), v.Recorder.Now())
	}
	lines := json.NewDecoder(bufio.NewReader(stream))
	for {
		var line struct {
			Type   string                       `json:"type"`
			Object metav1.PartialObjectMetadata `json:"object"`
		}
		if err := lines.Decode(&line); err != nil {
			return fmt.Errorf("the stream ended: %w", err)
		}
		switch line.Type {
		case "ADDED", "MODIFIED":
			into.changed(line.Object.Name, number(line.Object.ResourceVersion), v.Recorder.Now())
		case "DELETED", "BOOKMARK":
		default:
			return fmt.Errorf("the server ended the watch: %s", line.Type)
		}
	}
}

// visibleWatch is what a member's watch has told.
type visibleWatch struct {
	mu sync.Mutex
	// opened is when the watch was opened that there is; 0 where there is none, and lost
	// says why.
	opened int64
	lost   string
	// changes are the last ones of each object, in the order in which they were told.
	changes map[string][]visibleChange
	moved   chan struct{}
}

type visibleChange struct{ revision, at int64 }

func (w *visibleWatch) announce() {
	close(w.moved)
	w.moved = make(chan struct{})
}

func (w *visibleWatch) open(now int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.opened, w.lost = now, ""
	clear(w.changes)
	w.announce()
}

func (w *visibleWatch) lose(why error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.opened, w.lost = 0, shorten(why.Error())
	w.announce()
}

func (w *visibleWatch) changed(name string, revision, now int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	kept := append(w.changes[name], visibleChange{revision, now})
	w.changes[name] = kept[max(0, len(kept)-visibilityKept):]
	w.announce()
}

// await waits until the watch that there is has told of a revision, or the context ends. Where the
// watch is lost, a client lists and opens another one: that shows the write too. An API server may
// end a watch at any time, as Kubernetes does where it fills a cache anew.
func (w *visibleWatch) await(ctx context.Context, name string, revision int64) history.Shown {
	w.mu.Lock()
	opened := w.opened
	w.mu.Unlock()
	seen := history.Shown{Sent: opened}
	for opened > 0 {
		w.mu.Lock()
		if w.opened != opened {
			seen.Error = cmp.Or(w.lost, seen.Error, "the watch was lost, and opened again")
		}
		if w.opened > 0 {
			seen.Sent = w.opened
		}
		for _, change := range w.changes[name] {
			if change.revision >= revision {
				seen.ResourceVersion, seen.At = change.revision, change.at
				break
			}
		}
		moved := w.moved
		w.mu.Unlock()
		if seen.At > 0 {
			return seen
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return seen
		}
	}
	return seen
}
