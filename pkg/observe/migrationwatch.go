package observe

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/history"
)

const (
	migrationGroup    = "storagemigration.k8s.io"
	migrationResource = "storageversionmigrations"
	// fallbackVersion is asked for where a server does not tell what it serves.
	fallbackVersion = "v1"
)

// NewMigrationWatch records which StorageVersionMigrations one member's API server
// shows to a client, in the version that it prefers. Which one that is differs by
// release, so that it is asked for again after each loss.
func NewMigrationWatch(member string, config func() (*rest.Config, error), recorder Recorder, clk clock.WithTicker) *ObjectWatch {
	w := newObjectWatch(member, migrationResource, config, recorder, clk)
	w.path = func(ctx context.Context, client *Client) (string, error) {
		preferred, _, err := migrationVersions(ctx, client)
		return GroupVersionPath(migrationGroup, preferred) + "/" + migrationResource, err
	}
	return w
}

// migrationVersions are the versions in which a server serves migrations.
func migrationVersions(ctx context.Context, client *Client) (preferred string, all []string, err error) {
	answer := client.Get(ctx, "/apis/"+migrationGroup)
	var group struct {
		PreferredVersion struct {
			Version string `json:"version"`
		} `json:"preferredVersion"`
		Versions []struct {
			Version string `json:"version"`
		} `json:"versions"`
	}
	switch {
	case answer.Err != nil:
		return "", nil, fmt.Errorf("the versions of %s were not told: %w", migrationGroup, answer.Err)
	case answer.Code != http.StatusOK:
		return "", nil, watchRefusal{answer.Code, fmt.Sprintf("the versions of %s were answered %d", migrationGroup, answer.Code)}
	case json.Unmarshal(answer.Body, &group) != nil || group.PreferredVersion.Version == "":
		return "", nil, fmt.Errorf("no version of %s is told", migrationGroup)
	}
	for _, version := range group.Versions {
		all = append(all, version.Version)
	}
	return group.PreferredVersion.Version, all, nil
}

// ListMigrations lists the migrations through a member in each version that it
// serves, and records the answers. What is not answered, or only for the moment,
// is asked again.
func ListMigrations(ctx context.Context, client *Client, clk clock.WithTicker) {
	preferred, all, err := migrationVersions(ctx, client)
	for attempt := 1; err != nil && attempt < ListAttempts && ctx.Err() == nil; attempt++ {
		pause(ctx, clk, ListRetry)
		preferred, all, err = migrationVersions(ctx, client)
	}
	if err != nil {
		// The list that follows has the same answer, and is what goes on record.
		preferred = fallbackVersion
	}
	if len(all) == 0 {
		all = []string{preferred}
	}
	for _, version := range all {
		call := Call{Class: history.ClassRead, Verb: "list", Group: migrationGroup, Version: version, Resource: migrationResource}
		for attempt := 1; !client.Do(ctx, call).OK() && attempt < ListAttempts && ctx.Err() == nil; attempt++ {
			pause(ctx, clk, ListRetry)
		}
	}
}
