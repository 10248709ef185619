package discovery

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// acceptAggregated asks for every form of the aggregated document that can be
// read, and as KEP-3352 wants for one that every server has.
var acceptAggregated = Form{Version: V2, MediaType: runtime.ContentTypeJSON}.ContentType() + "," +
	Form{Version: V2beta1, MediaType: runtime.ContentTypeJSON}.ContentType() + "," + runtime.ContentTypeJSON

// errNoAggregated says that a server answers but has no aggregated document.
var errNoAggregated = errors.New("it has no aggregated discovery")

// fetcher asks one server. It trusts no answer: each is bounded in time and size.
type fetcher struct {
	transport http.RoundTripper
	host      string
}

// fetch gets the aggregated document, or the given group-versions one by one if the
// server has none. With a tag, the request is conditional. It returns both an answer
// and an error if it could fetch only some of the group-versions.
func (f fetcher) fetch(ctx context.Context, tag string, versions []schema.GroupVersion) (answer, error) {
	a, err := f.aggregated(ctx, acceptAggregated, tag)
	if !errors.Is(err, errNoAggregated) {
		return a, err
	}
	a = answer{versions: map[schema.GroupVersion]apidiscoveryv2.APIVersionDiscovery{}, asked: []schema.GroupVersion{}}
	var failures []error
	for _, version := range versions {
		one, err := f.unaggregated(ctx, version)
		if err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", version, err))
			if errors.Is(err, context.DeadlineExceeded) {
				// The server hangs; do not wait for it again for each group-version.
				break
			}
			continue
		}
		a.asked = append(a.asked, version)
		a.versions[version] = one
	}
	return a, errors.Join(failures...)
}

func (f fetcher) aggregated(ctx context.Context, accept, tag string) (answer, error) {
	status, header, body, err := f.get(ctx, groupsPath, accept, tag)
	if err != nil {
		return answer{}, err
	}
	version := versionOf(header.Get("Content-Type"))
	switch {
	case status == http.StatusNotModified && tag != "":
		return answer{unchanged: true}, nil
	case status == http.StatusNotModified:
		return answer{}, errors.New("it answered 304 to an unconditional request")
	case status == http.StatusOK && version != "":
		a, err := readAggregated(version, body)
		if tag := header.Get("ETag"); len(tag) <= maxRemoteTag {
			a.tag = tag
		}
		return a, err
	case status == http.StatusOK, status >= 400 && status < 500 && status != http.StatusTooManyRequests:
		return answer{}, errNoAggregated
	default:
		return answer{}, fmt.Errorf("it answered with status %d", status)
	}
}

func (f fetcher) unaggregated(ctx context.Context, version schema.GroupVersion) (apidiscoveryv2.APIVersionDiscovery, error) {
	path := groupsPath + "/" + version.Group + "/" + version.Version
	status, _, body, err := f.get(ctx, path, runtime.ContentTypeJSON, "")
	switch {
	case err != nil:
		return apidiscoveryv2.APIVersionDiscovery{}, err
	case status != http.StatusOK:
		return apidiscoveryv2.APIVersionDiscovery{}, fmt.Errorf("it answered with status %d", status)
	}
	return readUnaggregated(version, body)
}

// get makes one request. It follows no redirect: a server has to answer itself for
// its own discovery.
func (f fetcher) get(ctx context.Context, path, accept, tag string) (status int, header http.Header, body []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	target := url.URL{Scheme: "https", Host: f.host, Path: path}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return 0, nil, nil, err
	}
	request.Header.Set("Accept", accept)
	if tag != "" {
		request.Header.Set("If-None-Match", tag)
	}
	response, err := f.transport.RoundTrip(request)
	if err != nil {
		return 0, nil, nil, err
	}
	defer response.Body.Close()
	body, err = io.ReadAll(io.LimitReader(response.Body, maxRemoteDocument+1))
	if err != nil {
		return 0, nil, nil, fmt.Errorf("read its answer: %w", err)
	}
	if len(body) > maxRemoteDocument {
		return 0, nil, nil, fmt.Errorf("its answer is longer than %d bytes", maxRemoteDocument)
	}
	return response.StatusCode, response.Header, body, nil
}

// versionOf is the version of the aggregated document that a content type
// announces in JSON, or empty if it announces anything else.
func versionOf(contentType string) string {
	mediaType, parameters, err := mime.ParseMediaType(contentType)
	if err != nil || mediaType != runtime.ContentTypeJSON || parameters["g"] != apidiscoveryv2.GroupName || parameters["as"] != listKind {
		return ""
	}
	if !slices.Contains(versions, parameters["v"]) {
		return ""
	}
	return parameters["v"]
}
