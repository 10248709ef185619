package external

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"golang.org/x/net/http/httpproxy"
	"k8s.io/client-go/rest"
)

// throughProxy settles by which proxy the server is reached: that of the kubeconfig, or
// else that of the environment, as kubectl does. From then on config.Proxy alone says so,
// since the clients of a run read no environment.
//
// An API server that is reached by plain HTTP through a proxy is refused: a proxy that
// cannot reach the server answers in its place then, while of a TLS tunnel it only ever
// answers the request to open it.
func throughProxy(config *rest.Config) error {
	if config.Proxy == nil {
		from := httpproxy.FromEnvironment().ProxyFunc()
		config.Proxy = func(request *http.Request) (*url.URL, error) { return from(request.URL) }
	}
	proxy, server, err := proxyOf(config)
	if err != nil {
		return err
	}
	if proxy == nil {
		config.Proxy = nil
		return nil
	}
	if server.Scheme != "https" {
		return errors.New("it reaches the API server by plain HTTP through a proxy, whose answers cannot be told from those of the server: use an https:// address, or no proxy")
	}
	config.Proxy = http.ProxyURL(proxy)
	return nil
}

// proxyOf is the proxy by which the server is reached, nil if there is none, and the
// server's address. Its errors do not repeat the address of the proxy, which may hold a
// password.
func proxyOf(config *rest.Config) (proxy, server *url.URL, err error) {
	if server, _, err = rest.DefaultServerUrlFor(config); err != nil {
		return nil, nil, fmt.Errorf("its address cannot be used: %w", err)
	}
	if config.Proxy == nil {
		return nil, server, nil
	}
	if proxy, err = config.Proxy(&http.Request{URL: server}); err != nil {
		return nil, nil, errors.New("the proxy for its address cannot be used: correct proxy-url in the kubeconfig, or HTTPS_PROXY and NO_PROXY in the environment")
	}
	return proxy, server, nil
}
