package observe

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/history"
)

const (
	migrationGroup    = "storagemigration.k8s.io"
	migrationResource = "storageversionmigrations"
)

// publishedVersions are those of migrations that Kubernetes has published, newest first.
var publishedVersions = []string{"v1", "v1beta1", "v1alpha1"}

// NewMigrationWatch records which StorageVersionMigrations one member's API server
// shows to a client, in the version that it serves and prefers. Which one that is
// differs by release, so that it is asked for again after each loss.
func NewMigrationWatch(member string, config func() (*rest.Config, error), recorder Recorder, clk clock.WithTicker) *ObjectWatch {
	w := newObjectWatch(member, migrationResource, config, recorder, clk)
	w.path = func(ctx context.Context, client *Client) (string, error) {
		versions, err := MigrationVersions(ctx, client)
		if err != nil {
			return "", err
		}
		return GroupVersionPath(migrationGroup, versions[0]) + "/" + migrationResource, nil
	}
	return w
}

// MigrationVersions returns the versions in which a member serves migrations: first the one
// that it prefers, then the newer ones; without an error there is at least one. The listed
// versions are not enough: while members of two releases run, each Kubernetes API server
// lists the versions of the newer ones, and leaves out those that only the older ones serve,
// since all share the APIServices. A version counts as served unless the member answers 404.
// If it answers 404 for all versions, MigrationVersions returns the preferred one, so that
// the request for it shows the refusal.
func MigrationVersions(ctx context.Context, client *Client) ([]string, error) {
	answer := client.Get(ctx, "/apis/"+migrationGroup)
	var group metav1.APIGroup
	switch {
	case answer.Err != nil:
		return nil, fmt.Errorf("the versions of %s were not told: %w", migrationGroup, answer.Err)
	case answer.Code != http.StatusOK:
		return nil, watchRefusal{answer, fmt.Sprintf("the versions of %s were answered %d", migrationGroup, answer.Code)}
	case json.Unmarshal(answer.Body, &group) != nil || group.PreferredVersion.Version == "":
		return nil, fmt.Errorf("no version of %s is told", migrationGroup)
	}
	preferred := group.PreferredVersion.Version
	candidates := []string{preferred}
	for _, version := range slices.Concat(publishedVersions, listedVersions(group)) {
		if !slices.Contains(candidates, version) {
			candidates = append(candidates, version)
		}
	}
	served := slices.DeleteFunc(candidates, func(version string) bool {
		return client.Get(ctx, GroupVersionPath(migrationGroup, version)).Code == http.StatusNotFound
	})
	if len(served) == 0 {
		served = []string{preferred}
	}
	return served, nil
}

func listedVersions(group metav1.APIGroup) []string {
	var out []string
	for _, version := range group.Versions {
		out = append(out, version.Version)
	}
	return out
}

// ListMigrations lists the migrations through a member in each version that it
// serves, and records the answers. What is not answered, or only for the moment,
// is asked again.
func ListMigrations(ctx context.Context, client *Client, clk clock.WithTicker) {
	versions, err := MigrationVersions(ctx, client)
	for attempt := 1; err != nil && attempt < ListAttempts && ctx.Err() == nil; attempt++ {
		pause(ctx, clk, ListRetry)
		versions, err = MigrationVersions(ctx, client)
	}
	if err != nil {
		// The list that follows has the same answer, and is what goes on record.
		versions = publishedVersions[:1]
	}
	for _, version := range versions {
		call := Call{Class: history.ClassRead, Verb: "list", Group: migrationGroup, Version: version, Resource: migrationResource}
		for attempt := 1; !client.Do(ctx, call).OK() && attempt < ListAttempts && ctx.Err() == nil; attempt++ {
			pause(ctx, clk, ListRetry)
		}
	}
}
