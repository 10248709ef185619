// Package acting leaves evidence of who acts as the leader: a ConfigMap to which
// the leader writes over and over. Nothing guards it, so that two leaders that
// act at once are seen to do so.
package acting

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/impl/election/candidacy"
)

const (
	// Annotation holds an Action as JSON.
	Annotation = "evenkeel.dev/acted"
	// Interval is the pause between two actions.
	Interval = 700 * time.Millisecond
	// prefix begins the name of the ConfigMap, which ends with the Lease's.
	prefix = "acting-"
)

// Action is one action of a leader.
type Action struct {
	// Lease by which it leads, as <namespace>/<name>; Holder and Version say who it
	// is, and Term and Number which action it is.
	Lease   string `json:"lease"`
	Holder  string `json:"holder"`
	Version string `json:"version"`
	Term    int32  `json:"term"`
	Number  int64  `json:"number"`

	// Sent is when it looked at whether it leads, right before it sent the action.
	Sent time.Time `json:"sent"`
}

// Keep acts until the context ends. It asks before each action whether it may.
func Keep(ctx context.Context, client kubernetes.Interface, term candidacy.Term, clk clock.WithTicker, logger klog.Logger) {
	ticker := clk.NewTicker(Interval)
	defer ticker.Stop()
	action := Action{Lease: term.Lease, Holder: term.Holder, Version: term.Version, Term: term.Number}
	for {
		action.Number++
		if err := act(ctx, client, action, term.Leading, clk); err != nil && ctx.Err() == nil {
			logger.Error(err, "An action failed", "number", action.Number)
		}
		select {
		case <-ticker.C():
		case <-ctx.Done():
			return
		}
	}
}

func act(ctx context.Context, client kubernetes.Interface, action Action, leading func() error, clk clock.PassiveClock) error {
	ctx, cancel := context.WithTimeout(ctx, 2*Interval)
	defer cancel()
	namespace, name, _ := strings.Cut(action.Lease, "/")
	configMaps := client.CoreV1().ConfigMaps(namespace)
	// mark is what the next request writes, if it may be sent.
	mark := func() (metav1.ObjectMeta, error) {
		action.Sent = clk.Now().UTC()
		if err := leading(); err != nil {
			return metav1.ObjectMeta{}, err
		}
		raw, err := json.Marshal(action)
		return metav1.ObjectMeta{Namespace: namespace, Name: prefix + name, Annotations: map[string]string{Annotation: string(raw)}}, err
	}
	meta, err := mark()
	if err != nil {
		return err
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": meta.Annotations}})
	if err != nil {
		return fmt.Errorf("encoding an action: %w", err)
	}
	_, err = configMaps.Patch(ctx, meta.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	if apierrors.IsNotFound(err) {
		if meta, err = mark(); err != nil {
			return err
		}
		_, err = configMaps.Create(ctx, &corev1.ConfigMap{ObjectMeta: meta}, metav1.CreateOptions{})
	}
	if err != nil {
		return fmt.Errorf("acting: %w", err)
	}
	return nil
}
