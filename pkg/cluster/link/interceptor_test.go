package link

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/pki"
)

const (
	manager   = "system:kube-controller-manager"
	scheduler = "system:kube-scheduler"
)

// intercepted is an interceptor before an API server that answers with who asked,
// and what was told of hits.
type intercepted struct {
	t    *testing.T
	i    *Interceptor
	ca   *pki.Authority
	mu   sync.Mutex
	told []cluster.HTTPExchange
	// asked counts the requests that came through.
	asked int
}

func (p *intercepted) issue(name, whom string, server bool) tls.Certificate {
	pair, err := p.ca.Issue(name, pki.Subject{Name: whom, Server: server})
	if err != nil {
		p.t.Fatal(err)
	}
	certificate, err := pair.TLS()
	if err != nil {
		p.t.Fatal(err)
	}
	return certificate
}

func listen(t *testing.T) net.Listener {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return listener
}

func intercept(t *testing.T) *intercepted {
	p := &intercepted{t: t}
	var err error
	if p.ca, err = pki.New(filepath.Join(t.TempDir(), "pki"), "c"); err != nil {
		t.Fatal(err)
	}
	back := listen(t)
	api := &http.Server{
		ReadHeaderTimeout: time.Minute,
		Handler:           http.HandlerFunc(p.serve),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{p.issue("api", "api", true)}, ClientAuth: tls.VerifyClientCertIfGiven,
			ClientCAs: p.ca.Pool(), NextProtos: []string{"h2", "http/1.1"}},
	}
	go func() { _ = api.ServeTLS(back, "", "") }()
	t.Cleanup(func() { api.Close() })
	p.i, err = NewInterceptor(InterceptorConfig{
		Listener: listen(t), Serving: p.issue("i", "i", true), Authority: p.ca.Pool(), Address: back.Addr().String(),
		Identities: []Identity{{cluster.ControllerManager, p.issue("m", manager, false)}, {cluster.Scheduler, p.issue("s", scheduler, false)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.i.Stop)
	return p
}

func (p *intercepted) serve(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.asked++
	p.mu.Unlock()
	name := "anonymous"
	if len(r.TLS.PeerCertificates) > 0 {
		name = r.TLS.PeerCertificates[0].Subject.CommonName
	}
	fmt.Fprintf(w, "%s %s", name, r.Header.Get("Authorization"))
	if r.URL.Query().Has("watch") {
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
}

func (p *intercepted) take(x cluster.HTTPExchange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if x.Over {
		p.told = append(p.told, x)
	}
}

// over is what was told of hits that are over, once there are so many.
func (p *intercepted) over(n int) []cluster.HTTPExchange {
	deadline := time.Now().Add(10 * time.Second)
	for {
		p.mu.Lock()
		told := p.told
		p.mu.Unlock()
		if len(told) >= n {
			return told
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("told of %+v", told)
		}
		time.Sleep(time.Millisecond)
	}
}

// client shows the certificate of whom, or none.
func (p *intercepted) client(whom string) *http.Client {
	config := &tls.Config{RootCAs: p.ca.Pool()}
	if whom != "" {
		config.Certificates = []tls.Certificate{p.issue("client-"+whom[len(whom)-4:], whom, false)}
	}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}}
}

func (p *intercepted) get(client *http.Client, path string) (code int, body string, err error) {
	request, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, "https://"+p.i.Address()+path, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	request.Header.Set("Authorization", "token")
	response, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	return response.StatusCode, string(raw), err
}

func TestTheAPIServerIsShownWhoAsks(t *testing.T) {
	p := intercept(t)
	for whom, want := range map[string]string{manager: manager + " token", scheduler: scheduler + " token", "": "anonymous token"} {
		if code, body, err := p.get(p.client(whom), "/x"); code != 200 || body != want || err != nil {
			t.Errorf("%q: %d %q %v", whom, code, body, err)
		}
	}
	if code, _, err := p.get(p.client("stranger"), "/x"); code != http.StatusBadGateway || err != nil {
		t.Errorf("a stranger got %d, %v", code, err)
	}
}

func TestOnlyWhatIsMeantIsHit(t *testing.T) {
	p := intercept(t)
	heal := p.i.Fault(cluster.ControllerManager, cluster.HTTPFault{Path: "/hit*", Code: 500, Answers: true}, p.take)
	for _, tc := range []struct {
		whom, path string
		code       int
	}{{manager, "/hit/x", 500}, {"", "/hit", 500}, {manager, "/other", 200}, {scheduler, "/hit/x", 200}} {
		if code, _, err := p.get(p.client(tc.whom), tc.path); code != tc.code || err != nil {
			t.Errorf("%q %s: %d, %v", tc.whom, tc.path, code, err)
		}
	}
	told := p.over(2)
	if x := told[0]; len(told) != 2 || x.Path != "/hit/x" || x.Method != http.MethodGet || !x.Sent || x.Code != 500 || x.Took == 0 {
		t.Errorf("told %+v", told)
	}
	heal()
	heal()
	if code, _, err := p.get(p.client(manager), "/hit/x"); code != 200 || err != nil {
		t.Errorf("after healing: %d, %v", code, err)
	}
}

func TestEveryThirdIsHit(t *testing.T) {
	p := intercept(t)
	p.i.Fault(cluster.ControllerManager, cluster.HTTPFault{Path: "/hit/*", Code: 503, Answers: true, Every: 3}, p.take)
	p.i.Fault(cluster.ControllerManager, cluster.HTTPFault{Path: "/hit/*", Code: 429, Answers: true, Every: 2}, p.take)
	client := p.client(manager)
	var got []int
	for range 8 {
		code, _, err := p.get(client, "/hit/x")
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, code)
		// What they are not about does not count.
		if code, _, err := p.get(client, "/other"); code != 200 || err != nil {
			t.Errorf("another path: %d, %v", code, err)
		}
	}
	// The second one counts what the first one has not hit.
	if want := []int{200, 429, 503, 200, 429, 503, 200, 429}; !slices.Equal(got, want) {
		t.Errorf("answered %v, want %v", got, want)
	}
}

func TestAbort(t *testing.T) {
	for _, answers := range []bool{false, true} {
		p := intercept(t)
		p.i.Fault(cluster.ControllerManager, cluster.HTTPFault{Abort: true, Answers: answers}, p.take)
		if code, _, err := p.get(p.client(manager), "/x"); err == nil {
			t.Errorf("answered %d", code)
		}
		if x := p.over(1)[0]; x.Code != 0 || x.Sent != answers {
			t.Errorf("told %+v", x)
		}
		p.mu.Lock()
		if (p.asked > 0) != answers {
			t.Errorf("the API server was asked %d times", p.asked)
		}
		p.mu.Unlock()
	}
}

func TestDelay(t *testing.T) {
	const delay = 50 * time.Millisecond
	p := intercept(t)
	p.i.Fault(cluster.ControllerManager, cluster.HTTPFault{Delay: delay}, p.take)
	if code, _, err := p.get(p.client(manager), "/x"); code != 200 || err != nil {
		t.Errorf("%d, %v", code, err)
	}
	if x := p.over(1)[0]; x.Held < delay || x.Took < x.Held || x.Code != 200 {
		t.Errorf("told %+v", x)
	}
}

// A client that gives up while a request is held back has not sent it.
func TestWhatIsGivenUpIsNotSent(t *testing.T) {
	p := intercept(t)
	ctx, giveUp := context.WithCancel(t.Context())
	p.i.Fault(cluster.ControllerManager, cluster.HTTPFault{Delay: time.Minute}, func(x cluster.HTTPExchange) {
		if !x.Over {
			giveUp() // now that it is held back, not while it may still be on its way
		}
		p.take(x)
	})
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+p.i.Address()+"/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	if response, err := p.client(manager).Do(request); err == nil {
		response.Body.Close()
		t.Error("it was answered")
	}
	if x := p.over(1)[0]; x.Sent || x.Code != 0 {
		t.Errorf("told %+v", x)
	}
}

// A watch that is under way has to ask again.
func TestAWatchMeetsTheFault(t *testing.T) {
	p := intercept(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+p.i.Address()+"/x?watch=true", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := p.client(manager).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	p.i.Fault(cluster.ControllerManager, cluster.HTTPFault{Path: "/x", Code: 403, Answers: true}, p.take)
	if _, err := io.ReadAll(response.Body); err == nil || ctx.Err() != nil {
		t.Errorf("the watch ended with %v", err)
	}
	if code, _, err := p.get(p.client(manager), "/x?watch=true"); code != 403 || err != nil {
		t.Errorf("asked again: %d, %v", code, err)
	}
}
