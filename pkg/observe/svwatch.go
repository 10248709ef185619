package observe

import (
	"context"
	"encoding/json"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/history"
)

const (
	storageVersionResource = "storageversions"
	storageVersionsPath    = "/apis/internal.apiserver.k8s.io/v1alpha1/" + storageVersionResource
)

// NewStorageVersionWatch records the StorageVersions as one member's API server
// shows them to a client.
func NewStorageVersionWatch(member string, config func() (*rest.Config, error), recorder Recorder, clk clock.WithTicker) *ObjectWatch {
	w := newObjectWatch(member, storageVersionResource, config, recorder, clk)
	w.path = func(context.Context, *Client) (string, error) { return storageVersionsPath, nil }
	w.read = func(raw []byte, event *history.Watch) error {
		var object apiserverinternalv1alpha1.StorageVersion
		if err := json.Unmarshal(raw, &object); err != nil {
			return err
		}
		event.StorageVersion = storageVersion(&object)
		return nil
	}
	return w
}
