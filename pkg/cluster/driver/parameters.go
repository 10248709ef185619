package driver

import (
	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/registry"
)

// Names of the parameters of drivers: the keys below spec.external.
const (
	sshUser         = "ssh.user"
	sshPort         = "ssh.port"
	sshIdentityFile = "ssh.identityFile"
	sshJumpHost     = "ssh.jumpHost"
	talosConfig     = "talosctl.config"
	talosContext    = "talosctl.context"
	talosImages     = "talosctl.images"
)

// lastPort is the highest port of TCP.
const lastPort = 65535

// sshParameters are those of a driver that reaches nodes by ssh.
var sshParameters = []registry.Parameter{{
	Name: sshUser, Path: []string{"spec", "external", "ssh", "user"}, Optional: true, Domain: registry.AnyText("root", "admin"),
	Doc: "logs in; one that is not root must be allowed `sudo` without a password",
}, {
	Name: sshPort, Path: []string{"spec", "external", "ssh", "port"}, Optional: true, Domain: registry.Count(1, lastPort),
	Doc: "is where the nodes' SSH servers listen",
}, {
	Name: sshIdentityFile, Path: []string{"spec", "external", "ssh", "identityFile"}, Optional: true, Domain: registry.AnyText("id_ed25519"),
	Doc: "is a private key without a passphrase, or one that the agent of ssh holds; the path begins at the topology's file",
}, {
	Name: sshJumpHost, Path: []string{"spec", "external", "ssh", "jumpHost"}, Optional: true, Domain: registry.AnyText("admin@bastion.example.com:22"),
	Doc: "is the host through which nodes are reached; user, port and key for it come from there or from the configuration of ssh",
}}

// talosParameters are those of the driver that reaches nodes by talosctl.
var talosParameters = []registry.Parameter{{
	Name: talosConfig, Path: []string{"spec", "external", "talosctl", "config"}, Optional: true, Domain: registry.AnyText("talosconfig"),
	Doc: "is the talosconfig file; the path begins at the topology's file",
}, {
	Name: talosContext, Path: []string{"spec", "external", "talosctl", "context"}, Optional: true, Domain: registry.AnyText("prod"),
	Doc: "is the context in it",
}, {
	Name: talosImages, Path: []string{"spec", "external", "talosctl", "images"}, Optional: true, Domain: registry.AnyText("registry.example.com/kubernetes"),
	Doc: "is the registry, with its path, from which nodes pull `kube-apiserver` and the other components; `upgrade` needs it",
}}

// valuesOf are the values of parameters that a topology gives.
func valuesOf(external *cluster.External) registry.Values {
	values := registry.Values{}
	text := func(name, value string) {
		if value != "" {
			values[name] = value
		}
	}
	if ssh := external.SSH; ssh != nil {
		text(sshUser, ssh.User)
		text(sshIdentityFile, ssh.IdentityFile)
		text(sshJumpHost, ssh.JumpHost)
		if ssh.Port != 0 {
			values[sshPort] = ssh.Port
		}
	}
	if talosctl := external.Talosctl; talosctl != nil {
		text(talosConfig, talosctl.Config)
		text(talosContext, talosctl.Context)
		text(talosImages, talosctl.Images)
	}
	return values
}
