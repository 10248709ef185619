package observe

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// handedOnHeader tells an API server that a peer has handed a request on to it
// (KEP-4020): it has to answer by itself, whatever its peers host. It is the name
// that Kubernetes has published.
const handedOnHeader = "X-Kubernetes-Peer-Proxied"

// unlisted returns the group-versions that the local view has and the unaggregated list
// does not have: that list follows from the APIServices, which all servers share. The
// harness has not asked the server for the documents of these yet.
func unlisted(local *history.Listing, listed []groupVersion) []groupVersion {
	var out []groupVersion
	for _, version := range versionsOf(local) {
		if !slices.Contains(listed, version) {
			out = append(out, version)
		}
	}
	return out
}

func versionsOf(listing *history.Listing) []groupVersion {
	var out []groupVersion
	if listing == nil {
		return nil
	}
	for _, group := range listing.Groups {
		for _, version := range group.Versions {
			out = append(out, groupVersion{group.Name, version.Version})
		}
	}
	return out
}

// askItself asks for a group-version in such a way that the server does not hand
// the request on.
func (d *Documents) askItself(ctx context.Context, client *Client, path string) history.Event {
	return d.send(ctx, client, &history.DiscoveryDocument{Path: path, Accept: asJSON, LocalOnly: true})
}

// onlyPeers gives, for each group-version with resources that the union lists and
// the local view does not, the path of one whose objects can be listed. There are
// none where a server has no peers, or where these host what it hosts.
func onlyPeers(union, local *history.Listing) []string {
	var paths []string
	if union == nil || local == nil {
		return nil
	}
	here := map[groupVersion][]history.ListedResource{}
	for _, group := range local.Groups {
		for _, version := range group.Versions {
			here[groupVersion{group.Name, version.Version}] = version.Resources
		}
	}
	for _, group := range union.Groups {
		for _, version := range group.Versions {
			at := groupVersion{group.Name, version.Version}
			i := slices.IndexFunc(version.Resources, func(r history.ListedResource) bool {
				return slices.Contains(r.Verbs, "list") && !slices.ContainsFunc(here[at], func(own history.ListedResource) bool { return own.Name == r.Name })
			})
			if i >= 0 && len(paths) < maxHandedOn {
				paths = append(paths, GroupVersionPath(at.Group, at.Version)+"/"+version.Resources[i].Name)
			}
		}
	}
	return paths
}

// askThrough asks for objects that only peers host, again for a while if the
// server fails to answer: it may be busy, or the peer.
func (d *Documents) askThrough(ctx context.Context, client *Client, path string, tell func(history.Event)) {
	for attempt := range HandedOnAttempts {
		if attempt > 0 && !d.wait(ctx) {
			return
		}
		seen := &history.DiscoveryDocument{Path: path, Accept: asJSON}
		ev := history.Event{Kind: history.KindDiscoveryDocument, Member: d.member, From: d.recorder.Now(), DiscoveryDocument: seen}
		header, body, err := client.fetch(ctx, path, url.Values{"limit": {"1"}}, headersOf(seen), &seen.Code)
		if err != nil {
			seen.Code, seen.Error = 0, shorten(err.Error())
		} else {
			seen.ContentType, seen.Size = header.Get("Content-Type"), len(body)
			seen.Status = understand(seen.Code, body).Reason
		}
		tell(ev)
		if seen.Code != 0 && seen.Code != http.StatusTooManyRequests && seen.Code < http.StatusInternalServerError {
			return
		}
	}
}

// wait lets the pause between two attempts pass; it is false if the context ends.
func (d *Documents) wait(ctx context.Context) bool {
	timer := d.clock.NewTimer(HandedOnRetry)
	defer timer.Stop()
	select {
	case <-timer.C():
		return true
	case <-ctx.Done():
		return false
	}
}
