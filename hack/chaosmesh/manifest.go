package main

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"net"
	"os"
	"path/filepath"
	"text/template"

	"github.com/evenkeel/evenkeel/pkg/chaosmesh"
	"github.com/evenkeel/evenkeel/pkg/cluster/pki"
)

// place is where the controller runs, and what it reaches.
type place struct {
	Node, Address, server string
}

// What the certificates are for. The controller asks daemons by a name of its own making.
const (
	daemonName     = "chaos-daemon.chaos-mesh.org"
	controllerName = "chaos-controller-manager"
)

//go:embed manifest.yaml
var manifest string

// values are those of the manifest.
type values struct {
	place
	Namespace, Image, Host, Port                        string
	Authority, HookCert, HookKey, DaemonCert, DaemonKey string
	ControllerCert, ControllerKey                       string
	// Kinds are the resources that the webhooks of Chaos Mesh complete and check.
	Kinds []string
}

// manifest is what installs Chaos Mesh: its own definitions, and the rest.
func (b built) manifest(at place) ([]byte, error) {
	definitions, err := os.ReadFile(filepath.Join(b.source, "manifests", "crd.yaml"))
	if err != nil {
		return nil, err
	}
	v := values{place: at, Namespace: chaosmesh.Namespace, Image: image, Kinds: []string{"podchaos", "networkchaos", "podnetworkchaos"}}
	if v.Host, v.Port, err = net.SplitHostPort(at.server); err != nil {
		return nil, err
	}
	if err := v.certify(); err != nil {
		return nil, err
	}
	parsed, err := template.New("manifest").Parse(manifest)
	if err != nil {
		return nil, err
	}
	out := bytes.NewBuffer(append(definitions, "\n---\n"...))
	err = parsed.Execute(out, v)
	return out.Bytes(), err
}

// certify fills in certificates of an authority that is made for this cluster.
func (v *values) certify() error {
	dir, err := os.MkdirTemp("", "evenkeel-chaos-mesh-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	authority, err := pki.New(dir, chaosmesh.Namespace)
	if err != nil {
		return err
	}
	v.Authority = encoded(authority.PEM())
	for _, one := range []struct {
		name      string
		whom      pki.Subject
		cert, key *string
	}{
		{"webhook", pki.Subject{Name: controllerName, Server: true, Hosts: []string{v.Address}}, &v.HookCert, &v.HookKey},
		{"daemon", pki.Subject{Name: daemonName, Server: true, Hosts: []string{daemonName}}, &v.DaemonCert, &v.DaemonKey},
		{"client", pki.Subject{Name: controllerName}, &v.ControllerCert, &v.ControllerKey},
	} {
		pair, err := authority.Issue(one.name, one.whom)
		if err != nil {
			return err
		}
		*one.cert, *one.key = encoded(pair.CertPEM), encoded(pair.KeyPEM)
	}
	return nil
}

func encoded(raw []byte) string { return base64.StdEncoding.EncodeToString(raw) }
