package discovery

import (
	"net/http"
	"net/http/httputil"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/endpoints/request"
	peerproxymetrics "k8s.io/apiserver/pkg/util/peerproxy/metrics"
	"k8s.io/client-go/transport"
	"k8s.io/klog/v2"
)

// handedOnHeader marks a request that a peer has proxied. It is not proxied again,
// so that a request does not loop between two members that consider each other the host.
// KEP-4020 calls it X-Kubernetes-APIServer-Rerouted; this is the published name.
const handedOnHeader = "X-Kubernetes-Peer-Proxied"

// NewRouter returns a handler that proxies requests for resources that only peers host
// to one of them, in the name of the requesting user, and passes every other request to
// next. It belongs behind authentication and authorization. Without it, the union
// lists resources that the server cannot serve.
func NewRouter(n *Neighborhood, carrier http.RoundTripper, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		info, ok := request.RequestInfoFrom(r.Context())
		if !ok || r.Header.Get(handedOnHeader) != "" {
			next.ServeHTTP(w, r)
			return
		}
		hosted, ok := askedFor(info)
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		id, address, ok := n.route(hosted)
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		user, ok := request.UserFrom(r.Context())
		if !ok {
			responsewriters.InternalError(w, r, apierrors.NewUnauthorized("the request has no user"))
			return
		}
		proxy := httputil.ReverseProxy{
			Rewrite: func(p *httputil.ProxyRequest) {
				p.Out.URL.Scheme, p.Out.URL.Host, p.Out.Host = "https", address, address
				p.Out.Header.Set(handedOnHeader, "true")
			},
			Transport: transport.NewAuthProxyRoundTripper(user.GetName(), user.GetUID(), user.GetGroups(), user.GetExtra(), carrier),
			// Watches are to be seen as they come.
			FlushInterval: -1,
			ModifyResponse: func(answer *http.Response) error {
				peerproxymetrics.IncPeerProxiedRequest(r.Context(), strconv.Itoa(answer.StatusCode), hosted.Group, hosted.Version, hosted.Resource)
				return nil
			},
			ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
				peerproxymetrics.IncPeerProxyError(r.Context(), peerproxymetrics.ProxyErrorTransport, hosted.Group, hosted.Version, hosted.Resource)
				klog.FromContext(r.Context()).Info("Cannot proxy a request to a peer", "peer", id, "reason", err)
				status := responsewriters.ErrorToAPIStatus(apierrors.NewServiceUnavailable("peer " + id + ", which hosts " + hosted.String() + ", cannot be reached; try again"))
				responsewriters.WriteRawJSON(int(status.Code), status, w)
			},
		}
		proxy.ServeHTTP(w, r)
	})
}

// String names what is hosted, for people.
func (h Hosted) String() string {
	switch {
	case h.Version == "":
		return h.Group
	case h.Resource == "":
		return h.GroupVersion.String()
	}
	return h.Resource + " in " + h.GroupVersion.String()
}

// askedFor is what a request needs a host for: a resource, or the description of
// a group-version or of a group.
func askedFor(info *request.RequestInfo) (Hosted, bool) {
	if info.IsResourceRequest {
		return Hosted{schema.GroupVersion{Group: info.APIGroup, Version: info.APIVersion}, info.Resource}, info.APIGroup != ""
	}
	below, ok := strings.CutPrefix(strings.TrimSuffix(info.Path, "/"), groupsPath+"/")
	group, version, _ := strings.Cut(below, "/")
	return Hosted{GroupVersion: schema.GroupVersion{Group: group, Version: version}}, ok && group != "" && !strings.Contains(version, "/")
}
