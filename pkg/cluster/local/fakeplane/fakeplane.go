// Package fakeplane plays the reference control plane's binary in tests: the
// same command lines, real processes, ports and certificates, but no control
// plane behind them. A test binary becomes it by calling Main first in TestMain.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package fakeplane

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// Variable is the environment variable that turns a test binary into the fake.
const Variable = "EVENKEEL_FAKE_REFPLANE"

// probeTimeout is how long the fake API server gives its etcd to answer: enough for two
// processes that hardly get a processor, and less than a readiness probe waits.
const probeTimeout = 3 * time.Second

// The releases of the fake say how it behaves.
const (
	Good    = "1.0"     // works
	Next    = "1.1"     // works too
	Broken  = "broken"  // prints something and exits at once
	Unready = "unready" // serves, but its /readyz complains of etcd
	Deaf    = "deaf"    // ignores SIGTERM
	Full    = "full"    // as Broken, since the disk is full
	Leaky   = "leaky"   // as Broken, and prints its private key long before
	Blurter = "blurter" // as Broken, and prints its private key last
)

// Main plays refplane and exits if the process was started to do so.
func Main() {
	if os.Getenv(Variable) == "" {
		return
	}
	if err := fake(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "fake:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func fake(component string, args []string) error {
	option := map[string]string{}
	for i := 0; i+1 < len(args); i += 2 {
		option[strings.TrimPrefix(args[i], "--")] = args[i+1]
	}
	switch component {
	case "releases":
		fmt.Printf(`[{"name":%q},{"name":%q},{"name":%q},{"name":%q},{"name":%q},{"name":%q},{"name":%q},{"name":%q}]`, Good, Next, Broken, Unready, Deaf, Full, Leaky, Blurter)
		return nil
	case "defects":
		fmt.Print(`[{"id":"SV-06","requirement":"SV-06","component":"apiserver","description":"d"}]`)
		return nil
	}
	fmt.Println("fake", component, strings.Join(args, " "))
	switch option["release"] {
	case Broken:
		return fmt.Errorf("the flag of the year is missing")
	case Full:
		return syscall.ENOSPC
	case Leaky, Blurter:
		return tell(option["release"], option["tls-private-key-file"])
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	if option["release"] == Deaf {
		signal.Ignore(syscall.SIGTERM)
	}
	failed := make(chan error, 1)
	go func() { failed <- serve(component, option) }()
	select {
	case <-ended:
		fmt.Println("terminated")
		return nil
	case err := <-failed:
		return err
	}
}

// tell prints a private key as it is, and with Blurter once more where the end of a log
// is shown.
func tell(release, file string) error {
	key, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	fmt.Printf("my key is\n%s", key)
	for i := range 5 {
		fmt.Println("nothing else to tell,", i)
	}
	if release == Blurter {
		return fmt.Errorf("the key %s is of no use", base64.StdEncoding.EncodeToString(key))
	}
	return fmt.Errorf("the flag of the year is missing")
}

func serve(component string, option map[string]string) error {
	mux := http.NewServeMux()
	address := net.JoinHostPort(option["bind-address"], option["secure-port"])
	cert, key := option["tls-cert-file"], option["tls-private-key-file"]
	switch component {
	case "etcd":
		address = strings.TrimPrefix(option["listen-client-url"], "https://")
		cert, key = option["cert-file"], option["key-file"]
		mux.HandleFunc("/health", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"health":"true"}`) })
		go peers(option)
	case "apiserver":
		client, err := clientOf(option["etcd-cafile"], option["etcd-certfile"], option["etcd-keyfile"])
		if err != nil {
			return err
		}
		mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {
			if _, err := client.Get(option["etcd-servers"] + "/health"); err != nil || option["release"] == Unready {
				http.Error(w, "[+]ping ok\n[-]etcd failed: reason withheld", http.StatusInternalServerError)
			}
		})
		mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) })
		mux.HandleFunc("/flags", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Join(os.Args, " ")) })
	default:
		mux.HandleFunc("/readyz", func(http.ResponseWriter, *http.Request) {})
	}
	const headerBound = 10 * time.Second
	server := &http.Server{Addr: address, Handler: mux, ReadHeaderTimeout: headerBound}
	return server.ListenAndServeTLS(cert, key)
}

// peers keeps one connection to each other peer busy, and reads and
// discards what the others send.
func peers(option map[string]string) {
	listener, err := net.Listen("tcp", strings.TrimPrefix(option["listen-peer-url"], "https://"))
	if err != nil {
		fmt.Println(err)
		return
	}
	go func() {
		for {
			if connection, err := listener.Accept(); err == nil {
				go io.Copy(io.Discard, connection)
			}
		}
	}()
	for peer := range strings.SplitSeq(option["initial-cluster"], ",") {
		name, raw, _ := strings.Cut(peer, "=")
		address, err := url.Parse(raw)
		if err != nil || name == option["name"] {
			continue
		}
		go func() {
			for tick := time.Tick(5 * time.Millisecond); ; <-tick {
				connection, err := net.Dial("tcp", address.Host)
				for ; err == nil; <-tick {
					_, err = connection.Write([]byte("raft"))
				}
			}
		}()
	}
}

func clientOf(ca, cert, key string) (*http.Client, error) {
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, err
	}
	raw, err := os.ReadFile(ca)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(bytes.TrimSpace(raw))
	return &http.Client{Timeout: probeTimeout, Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}},
	}}, nil
}
