package observe

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// groupResource names a resource whatever its version.
type groupResource struct{ group, resource string }

// discover reads what an API server hosts from its unaggregated discovery
// documents, which every release has. A group version that an aggregated
// server should answer for is left out while that server does not.
func discover(ctx context.Context, client *Client) ([]history.HostedResource, error) {
	versions, err := groupVersions(ctx, client)
	if err != nil {
		return nil, err
	}
	custom, err := customResources(ctx, client)
	if err != nil {
		return nil, err
	}
	services, err := apiServices(ctx, client)
	if err != nil {
		return nil, err
	}

	claimed, err := claimedVersions(ctx, client)
	if err != nil {
		return nil, err
	}

	h := hosting{services: services, custom: custom, found: map[groupResource]*history.HostedResource{}}
	listed := len(versions)
	for _, version := range claimed {
		// The answer of an aggregated server would be another server's.
		if !slices.Contains(versions, version) && !services.handedOn[version.String()] {
			versions = append(versions, version)
		}
	}
	for i, version := range versions {
		if err := h.read(ctx, client, version, i >= listed); err != nil {
			return nil, err
		}
	}
	return h.sorted(), nil
}

// hosting collects what an API server hosts.
type hosting struct {
	services services
	custom   map[groupResource]bool
	found    map[groupResource]*history.HostedResource
}

// read adds the resources of a group version. An API server does not list a version that it
// hosts and does not serve yet.
func (h *hosting) read(ctx context.Context, client *Client, version groupVersion, unlisted bool) error {
	path := GroupVersionPath(version.Group, version.Version)
	local := h.services.local[version.String()]
	get := client.Get
	if unlisted {
		get = client.getItself // a peer that hosts it must not answer in its place (KEP-4020)
	}
	list, err := resourceList(get(ctx, path), client, path)
	if err != nil && local && !unlisted {
		// It may be another release's, as all servers share the APIServices, and a peer has not
		// answered: then the server answers for itself that it has none of it.
		list, err = resourceList(client.getItself(ctx, path), client, path)
	}
	switch {
	case errors.Is(err, errNotThere) && (unlisted || local):
		return nil
	case err != nil && h.services.handedOn[version.String()]:
		return nil // the server that should answer may be down
	case err != nil:
		return err
	}
	for _, resource := range list.APIResources {
		if isSubresource := strings.Contains(resource.Name, "/"); !isSubresource {
			h.add(version, &resource, unlisted)
		}
	}
	return nil
}

func resourceList(answer Answer, client *Client, path string) (*metav1.APIResourceList, error) {
	var list metav1.APIResourceList
	return &list, readInto(answer, client, path, &list)
}

func (h *hosting) add(version groupVersion, resource *metav1.APIResource, unlisted bool) {
	key := groupResource{version.Group, resource.Name}
	hosted := h.found[key]
	if hosted == nil {
		hosted = &history.HostedResource{Group: version.Group, Resource: resource.Name, Kind: resource.Kind, Custom: h.custom[key]}
		h.found[key] = hosted
	}
	if unlisted {
		hosted.Unlisted = append(hosted.Unlisted, version.String())
	} else {
		hosted.Served = append(hosted.Served, version.String())
	}
	if hash := resource.StorageVersionHash; hash != "" {
		hosted.Persisted = true
		if !slices.Contains(hosted.Hashes, hash) {
			hosted.Hashes = append(hosted.Hashes, hash)
		}
	}
	hosted.Aggregated = hosted.Aggregated || h.services.handedOn[version.String()]
}

// sorted are the resources by group and name, with their versions in order.
func (h *hosting) sorted() []history.HostedResource {
	resources := make([]history.HostedResource, 0, len(h.found))
	for _, hosted := range h.found {
		slices.Sort(hosted.Served)
		slices.Sort(hosted.Unlisted)
		slices.Sort(hosted.Hashes)
		resources = append(resources, *hosted)
	}
	slices.SortFunc(resources, func(a, b history.HostedResource) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Resource, b.Resource))
	})
	return resources
}

func groupVersions(ctx context.Context, client *Client) ([]groupVersion, error) {
	var core metav1.APIVersions
	if err := getInto(ctx, client, "/api", &core); err != nil {
		return nil, err
	}
	var groups metav1.APIGroupList
	if err := getInto(ctx, client, "/apis", &groups); err != nil {
		return nil, err
	}
	var versions []groupVersion
	for _, version := range core.Versions {
		versions = append(versions, groupVersion{Version: version})
	}
	for _, group := range groups.Groups {
		for _, version := range group.Versions {
			versions = append(versions, groupVersion{Group: group.Name, Version: version.Version})
		}
	}
	return versions, nil
}

// groupVersion prints as the API writes it, "v1" for the core group.
type groupVersion struct{ Group, Version string }

func (v groupVersion) String() string {
	if v.Group == "" {
		return v.Version
	}
	return v.Group + "/" + v.Version
}

// customResources are those that a CustomResourceDefinition defines.
func customResources(ctx context.Context, client *Client) (map[groupResource]bool, error) {
	var list struct {
		Items []struct {
			Spec struct {
				Group string `json:"group"`
				Names struct {
					Plural string `json:"plural"`
				} `json:"names"`
			} `json:"spec"`
		} `json:"items"`
	}
	if err := getInto(ctx, client, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &list); err != nil && !errors.Is(err, errNotThere) {
		return nil, err
	}
	out := map[groupResource]bool{}
	for _, item := range list.Items {
		out[groupResource{item.Spec.Group, item.Spec.Names.Plural}] = true
	}
	return out, nil
}

// claimedVersions returns the versions that a StorageVersion names as served by any server.
// The list of a group follows from the APIServices, which all servers share: while releases
// are mixed it may leave out a version that this server serves. Only a request for the
// version itself shows whether the server answers it.
func claimedVersions(ctx context.Context, client *Client) ([]groupVersion, error) {
	var list struct {
		Items []struct {
			Status struct {
				StorageVersions []struct {
					ServedVersions []string `json:"servedVersions"`
				} `json:"storageVersions"`
			} `json:"status"`
		} `json:"items"`
	}
	if err := getInto(ctx, client, "/apis/internal.apiserver.k8s.io/v1alpha1/storageversions", &list); err != nil && !errors.Is(err, errNotThere) {
		return nil, err
	}
	var out []groupVersion
	for _, item := range list.Items {
		for _, entry := range item.Status.StorageVersions {
			for _, served := range entry.ServedVersions {
				version := groupVersion{Version: served}
				if group, name, grouped := strings.Cut(served, "/"); grouped {
					version = groupVersion{Group: group, Version: name}
				}
				if !slices.Contains(out, version) {
					out = append(out, version)
				}
			}
		}
	}
	return out, nil
}

// services are the APIServices, by the group version that each registers: those that are handed
// on to another server, and those that are not.
type services struct{ handedOn, local map[string]bool }

func apiServices(ctx context.Context, client *Client) (services, error) {
	var list struct {
		Items []struct {
			Spec struct {
				Group   string    `json:"group"`
				Version string    `json:"version"`
				Service *struct{} `json:"service"`
			} `json:"spec"`
		} `json:"items"`
	}
	out := services{handedOn: map[string]bool{}, local: map[string]bool{}}
	if err := getInto(ctx, client, "/apis/apiregistration.k8s.io/v1/apiservices", &list); err != nil && !errors.Is(err, errNotThere) {
		return out, err
	}
	for _, item := range list.Items {
		version := groupVersion{item.Spec.Group, item.Spec.Version}.String()
		out.handedOn[version] = item.Spec.Service != nil
		out.local[version] = item.Spec.Service == nil
	}
	return out, nil
}

// errNotThere is that a server does not have what it was asked for.
var errNotThere = errors.New("it answered 404")

// getInto reads a document; the error is errNotThere where there is none.
func getInto(ctx context.Context, client *Client, path string, into any) error {
	return readInto(client.Get(ctx, path), client, path, into)
}

func readInto(answer Answer, client *Client, path string, into any) error {
	switch {
	case answer.Err != nil:
		return fmt.Errorf("get %s from %s: %w", path, client.Member(), answer.Err)
	case answer.Code == http.StatusNotFound:
		return fmt.Errorf("get %s from %s: %w", path, client.Member(), errNotThere)
	case answer.Code != http.StatusOK:
		return fmt.Errorf("get %s from %s: it answered %d: %s", path, client.Member(), answer.Code, answer.Message)
	}
	if err := json.Unmarshal(answer.Body, into); err != nil {
		return fmt.Errorf("get %s from %s: the answer cannot be read: %w", path, client.Member(), err)
	}
	return nil
}
