package observe

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"syscall"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// ObjectWatch records the objects of one resource as one member's API server shows
// them to a client. Each list that it begins with is recorded as OPENED and one
// ADDED for each object; the loss of the watch, and that it could not be begun, as
// BROKEN.
type ObjectWatch struct {
	member, resource string
	config           func() (*rest.Config, error)
	recorder         Recorder
	clock            clock.WithTicker
	// path is where the objects are found, which may be another one after each loss.
	path func(context.Context, *Client) (string, error)
	// read adds what is kept of an object to its event; nil where that is nothing
	// but its name and revision.
	read func(raw []byte, event *history.Watch) error

	mu sync.Mutex
	// through is up to which revision the server has shown everything, and moved
	// is closed and replaced whenever it grows.
	through int64
	moved   chan struct{}
}

func newObjectWatch(member, resource string, config func() (*rest.Config, error), recorder Recorder, clk clock.WithTicker) *ObjectWatch {
	return &ObjectWatch{member: member, resource: resource, config: config, recorder: recorder, clock: clk, moved: make(chan struct{})}
}

// watchLine is an event of a watch.
type watchLine struct {
	Type   string          `json:"type"`
	Object json.RawMessage `json:"object"`
}

// watchRefusal is that a server answered a list or watch with something else.
type watchRefusal struct {
	Answer
	text string
}

func (r watchRefusal) Error() string { return r.text }

// endedBy is the refusal that a server ends a watch with.
func endedBy(kind string, object json.RawMessage) watchRefusal {
	var status metav1.Status
	_ = json.Unmarshal(object, &status)
	return watchRefusal{Answer{Code: int(status.Code), Reason: string(status.Reason), Message: status.Message},
		fmt.Sprintf("the server ended the watch: %s %d %s", kind, status.Code, status.Message)}
}

// Run watches, again and again, until the context ends.
func (w *ObjectWatch) Run(ctx context.Context) {
	client := connectUntil(ctx, w.member, w.config, w.recorder, w.clock)
	if client == nil {
		return
	}
	defer client.Close()
	last := ""
	for ctx.Err() == nil {
		opened, err := w.watch(ctx, client)
		if ctx.Err() != nil {
			return
		}
		// A server that refuses shows its clients nothing, which must be seen; one
		// that is not there has no clients. The same refusal is told once in a row.
		message := shorten(err.Error())
		if opened || message != last && !errors.Is(err, syscall.ECONNREFUSED) {
			broken := history.Watch{Type: history.WatchBroken, Message: message}
			var refused watchRefusal
			if errors.As(err, &refused) {
				broken.Code = refused.Code
			}
			w.record(broken)
		}
		last = message
		if opened {
			w.cameTo(0)
		}
		pause(ctx, w.clock, RetryInterval)
	}
}

// WaitFor returns when the server has shown every change of the objects up to the
// revision.
func (w *ObjectWatch) WaitFor(ctx context.Context, revision int64) error {
	for {
		w.mu.Lock()
		through, moved := w.through, w.moved
		w.mu.Unlock()
		if through >= revision {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return fmt.Errorf("wait until %s shows its clients revision %d, having come to %d: %w", w.member, revision, through, context.Cause(ctx))
		}
	}
}

// cameTo notes how far the server has come. That can go back: nothing is shown
// while there is no watch, and a list may be behind the watch before it.
func (w *ObjectWatch) cameTo(revision int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if revision != w.through {
		w.through = revision
		close(w.moved)
		w.moved = make(chan struct{})
	}
}

func (w *ObjectWatch) record(event history.Watch) {
	event.Resource = w.resource
	w.recorder.Record(history.Event{Kind: history.KindWatch, Member: w.member, Watch: &event})
}

// watch lists and follows; it returns, always with an error, when that ended.
func (w *ObjectWatch) watch(ctx context.Context, client *Client) (opened bool, err error) {
	path, err := w.path(ctx, client)
	if err != nil {
		return false, err
	}
	answer := client.Get(ctx, path)
	if answer.Err != nil {
		return false, fmt.Errorf("the list was not answered: %w", answer.Err)
	}
	if answer.Code != http.StatusOK {
		return false, watchRefusal{answer, fmt.Sprintf("the list was answered %d", answer.Code)}
	}
	var list struct {
		Metadata metav1.ListMeta   `json:"metadata"`
		Items    []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(answer.Body, &list); err != nil {
		return false, err
	}
	var shown []history.Watch
	for _, item := range list.Items {
		event, err := w.event("ADDED", item)
		if err != nil {
			return false, err
		}
		shown = append(shown, event)
	}
	stream, err := client.openWatch(ctx, path, list.Metadata.ResourceVersion)
	if err != nil {
		return false, err
	}
	defer func() { _ = stream.Close() }()
	w.record(history.Watch{Type: history.WatchOpened, ResourceVersion: number(list.Metadata.ResourceVersion)})
	for _, event := range shown {
		w.record(event)
	}
	w.cameTo(number(list.Metadata.ResourceVersion))
	return true, w.follow(stream)
}

func (w *ObjectWatch) follow(stream io.Reader) error {
	lines := json.NewDecoder(bufio.NewReader(stream))
	for {
		var line watchLine
		if err := lines.Decode(&line); err != nil {
			return fmt.Errorf("the stream ended: %w", err)
		}
		switch line.Type {
		case "ADDED", "MODIFIED", "DELETED":
			event, err := w.event(line.Type, line.Object)
			if err != nil {
				return fmt.Errorf("an event cannot be read: %w", err)
			}
			w.record(event)
			w.cameTo(event.ResourceVersion)
		case "BOOKMARK":
		default:
			return endedBy(line.Type, line.Object)
		}
	}
}

// event is what is recorded of an object.
func (w *ObjectWatch) event(kind string, raw json.RawMessage) (history.Watch, error) {
	var object struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
	}
	if err := json.Unmarshal(raw, &object); err != nil {
		return history.Watch{}, err
	}
	event := history.Watch{Type: kind, Name: object.Metadata.Name, ResourceVersion: number(object.Metadata.ResourceVersion)}
	if w.read != nil {
		if err := w.read(raw, &event); err != nil {
			return history.Watch{}, err
		}
	}
	return event, nil
}

// number is a resourceVersion as a revision of etcd, which is never negative; 0 for what is
// none.
func number(resourceVersion string) int64 {
	n, err := strconv.ParseInt(resourceVersion, 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}
