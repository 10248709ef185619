package observe

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// acceptObjectMetadata is acceptMetadata for a watch.
const acceptObjectMetadata = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"

// errNotStreamed is that a member does not begin watches with all objects.
var errNotStreamed = errors.New("the member does not stream lists")

// stream asks for all objects by a watch that begins with them, as the informers of client-go do
// (KEP-3157). An API server without that feature refuses it, which is its right and not recorded.
func (o *resourceRead) stream(ctx context.Context, version string) {
	_, at, total, err := o.reads.etcd.held(ctx, o.of.prefix, 0, 1)
	if err != nil || total > ReadMost {
		return
	}
	from := o.reads.recorder.Now()
	items, revision, answer := o.streamed(ctx, version)
	if errors.Is(answer.Err, errNotStreamed) {
		return
	}
	read := o.seen(history.ReadStreamed, version, answer)
	read.After = at
	if answer.OK() {
		read.Items, read.ResourceVersion = len(items), revision
		o.compare(ctx, items, &read)
	}
	o.record(ctx, from, read)
}

// streamed reads such a watch until a bookmark says that it has shown all, and gives the objects as
// they are then.
func (o *resourceRead) streamed(ctx context.Context, version string) (items []metav1.PartialObjectMetadata, revision int64, answer Answer) {
	ctx, cancel := context.WithTimeout(ctx, ReadStreamWait)
	defer cancel()
	path, query := o.listed(version, url.Values{"watch": {"true"}, "sendInitialEvents": {"true"}, "allowWatchBookmarks": {"true"},
		"resourceVersionMatch": {string(metav1.ResourceVersionMatchNotOlderThan)}})
	stream, err := o.client.openStream(ctx, path, query, acceptObjectMetadata)
	var refused watchRefusal
	switch {
	case errors.As(err, &refused) && refused.Code == http.StatusUnprocessableEntity:
		return nil, 0, Answer{Err: errNotStreamed}
	case errors.As(err, &refused):
		return nil, 0, refused.Answer
	case err != nil:
		return nil, 0, Answer{Err: err}
	}
	defer func() { _ = stream.Close() }()
	now := map[string]metav1.PartialObjectMetadata{}
	lines := json.NewDecoder(bufio.NewReader(stream))
	for {
		var line watchLine
		if err := lines.Decode(&line); err != nil {
			return nil, 0, Answer{Err: fmt.Errorf("the watch ended before it had shown all objects: %w", err)}
		}
		var object metav1.PartialObjectMetadata
		if err := json.Unmarshal(line.Object, &object); err != nil {
			return nil, 0, Answer{Err: fmt.Errorf("an object of the watch cannot be read: %w", err)}
		}
		switch name := QualifiedName(object.Namespace, object.Name); line.Type {
		case "ADDED", "MODIFIED":
			now[name] = object
		case "DELETED":
			delete(now, name)
		case "BOOKMARK":
			if object.Annotations[metav1.InitialEventsAnnotationKey] == "true" {
				for _, name := range slices.Sorted(maps.Keys(now)) {
					items = append(items, now[name])
				}
				return items, number(object.ResourceVersion), Answer{Code: http.StatusOK}
			}
		default:
			ended := endedBy(line.Type, line.Object)
			if ended.Code == 0 {
				ended.Err = ended
			}
			return nil, 0, ended.Answer
		}
	}
}
