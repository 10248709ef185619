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

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/history"
)

const (
	storageVersionResource = "storageversions"
	storageVersionsPath    = "/apis/internal.apiserver.k8s.io/v1alpha1/" + storageVersionResource
)

// StorageVersionWatch records the StorageVersions as one member's API server
// shows them to a client. Each list that it begins with is recorded as OPENED
// and one ADDED for each object; the loss of the watch, and that it could not be
// begun, as BROKEN.
type StorageVersionWatch struct {
	member   string
	config   func() (*rest.Config, error)
	recorder Recorder
	clock    clock.WithTicker

	mu sync.Mutex
	// through is up to which revision the server has shown everything, and moved
	// is closed and replaced whenever it grows.
	through int64
	moved   chan struct{}
}

// NewStorageVersionWatch makes a watch through the member.
func NewStorageVersionWatch(member string, config func() (*rest.Config, error), recorder Recorder, clk clock.WithTicker) *StorageVersionWatch {
	return &StorageVersionWatch{member: member, config: config, recorder: recorder, clock: clk, moved: make(chan struct{})}
}

// Run watches, again and again, until the context ends.
func (w *StorageVersionWatch) Run(ctx context.Context) {
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
			w.record(history.Watch{Type: history.WatchBroken, Message: message})
		}
		last = message
		if opened {
			w.cameTo(0)
		}
		pause(ctx, w.clock, RetryInterval)
	}
}

// WaitFor returns when the server has shown every change of a StorageVersion up
// to the revision.
func (w *StorageVersionWatch) WaitFor(ctx context.Context, revision int64) error {
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
func (w *StorageVersionWatch) cameTo(revision int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if revision != w.through {
		w.through = revision
		close(w.moved)
		w.moved = make(chan struct{})
	}
}

func (w *StorageVersionWatch) record(event history.Watch) {
	event.Resource = storageVersionResource
	w.recorder.Record(history.Event{Kind: history.KindWatch, Member: w.member, Watch: &event})
}

// watch lists and follows; it returns, always with an error, when that ended.
func (w *StorageVersionWatch) watch(ctx context.Context, client *Client) (opened bool, err error) {
	answer := client.Get(ctx, storageVersionsPath)
	if answer.Err != nil {
		return false, fmt.Errorf("the list was not answered: %w", answer.Err)
	}
	if answer.Code != http.StatusOK {
		return false, fmt.Errorf("the list was answered %d", answer.Code)
	}
	var list apiserverinternalv1alpha1.StorageVersionList
	if err := json.Unmarshal(answer.Body, &list); err != nil {
		return false, err
	}
	stream, err := client.openWatch(ctx, storageVersionsPath, list.ResourceVersion)
	if err != nil {
		return false, err
	}
	defer func() { _ = stream.Close() }()
	w.record(history.Watch{Type: history.WatchOpened, ResourceVersion: number(list.ResourceVersion)})
	for i := range list.Items {
		w.shown("ADDED", &list.Items[i])
	}
	w.cameTo(number(list.ResourceVersion))
	return true, w.follow(stream)
}

func (w *StorageVersionWatch) follow(stream io.Reader) error {
	lines := json.NewDecoder(bufio.NewReader(stream))
	for {
		var event struct {
			Type   string          `json:"type"`
			Object json.RawMessage `json:"object"`
		}
		if err := lines.Decode(&event); err != nil {
			return fmt.Errorf("the stream ended: %w", err)
		}
		switch event.Type {
		case "ADDED", "MODIFIED", "DELETED":
			var object apiserverinternalv1alpha1.StorageVersion
			if err := json.Unmarshal(event.Object, &object); err != nil {
				return fmt.Errorf("an event cannot be read: %w", err)
			}
			w.shown(event.Type, &object)
			w.cameTo(number(object.ResourceVersion))
		case "BOOKMARK":
		default:
			var status metav1.Status
			_ = json.Unmarshal(event.Object, &status)
			return fmt.Errorf("the server ended the watch: %s %d %s", event.Type, status.Code, status.Message)
		}
	}
}

func (w *StorageVersionWatch) shown(kind string, object *apiserverinternalv1alpha1.StorageVersion) {
	w.record(history.Watch{
		Type:            kind,
		Name:            object.Name,
		ResourceVersion: number(object.ResourceVersion),
		StorageVersion:  storageVersion(object),
	})
}

func number(resourceVersion string) int64 {
	n, err := strconv.ParseInt(resourceVersion, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
