package main

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"text/template"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/yaml"

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
	// Digest is that of the authority: Pods that hold certificates of another one are replaced.
	Digest string
	// Kinds are the resources that the webhooks of Chaos Mesh complete and check.
	Kinds []string
}

// manifest is what installs Chaos Mesh: its own definitions, and the rest.
func (b built) manifest(at place) ([]byte, error) {
	definitions, err := b.definitions()
	if err != nil {
		return nil, err
	}
	v := values{place: at, Namespace: chaosmesh.Namespace, Image: image, Kinds: []string{"podchaos", "networkchaos"}}
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
	out := bytes.NewBuffer(definitions)
	err = parsed.Execute(out, v)
	return out.Bytes(), err
}

// definitions are those of Chaos Mesh. Its API is younger than they are: they keep fields that
// they do not know, or a webhook takes the default of such a field for a change that is refused.
func (b built) definitions() ([]byte, error) {
	raw, err := os.ReadFile(filepath.Join(b.source, "manifests", "crd.yaml"))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(raw), len(raw))
	for {
		var one apiextensionsv1.CustomResourceDefinition
		if err := decoder.Decode(&one); errors.Is(err, io.EOF) {
			return out.Bytes(), nil
		} else if err != nil {
			return nil, err
		}
		for _, version := range one.Spec.Versions {
			if spec, ok := version.Schema.OpenAPIV3Schema.Properties["spec"]; ok {
				spec.XPreserveUnknownFields = new(true)
				version.Schema.OpenAPIV3Schema.Properties["spec"] = spec
			}
		}
		raw, err := json.Marshal(one)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&out, "%s\n---\n", raw)
	}
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
	v.Digest = fmt.Sprintf("%x", sha256.Sum256(authority.PEM()))
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
