package cluster

import (
	"fmt"
	"regexp"
)

// SSH is how a driver reaches the nodes of an external cluster, by the ssh of this machine. What
// is left out follows from the user's own configuration of ssh.
type SSH struct {
	// User to log in as. One that is not root has to be allowed sudo without a password.
	User string `yaml:"user,omitempty"`
	// Port of the nodes' SSH servers; 0 means the usual one.
	Port int `yaml:"port,omitempty"`
	// IdentityFile is a private key. A path that is not absolute begins at the topology's file.
	IdentityFile string `yaml:"identityFile,omitempty"`
	// JumpHost is the host through which the nodes are reached, as ssh -J takes it.
	JumpHost string `yaml:"jumpHost,omitempty"`
}

// Talosctl is how talosctl reaches the nodes of an external cluster. What is left out follows from
// the user's own configuration of talosctl.
type Talosctl struct {
	// Config is the talosconfig file. A path that is not absolute begins at the topology's file.
	Config string `yaml:"config,omitempty"`
	// Context in it; empty means the current one.
	Context string `yaml:"context,omitempty"`
	// Images is the registry, with its path, from which the nodes pull the components.
	Images string `yaml:"images,omitempty"`
}

// nodeAddress is a host name, an IP address, or a name that the configuration of ssh knows, and
// jumpHosts are those with a user and a port. Neither begins with a dash, which ssh would take for
// an option.
var (
	nodeAddress = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]*$`)
	jumpHosts   = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._:@,\[\]-]*$`)
	loginName   = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*$`)
)

// driverProblems says what is wrong in what an external topology says of its driver, as far as
// that can be told without knowing the drivers.
func (t *Topology) driverProblems() (wrong []string) {
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	external := t.Spec.External
	if external == nil {
		external = &External{}
	}
	if external.Driver == "" && (external.SSH != nil || external.Talosctl != nil) {
		complain("spec.external.ssh and talosctl say how a driver reaches the nodes: name it with spec.external.driver, or leave them out")
	}
	for i, member := range t.Spec.Members {
		if member.External != nil {
			wrong = append(wrong, external.reachProblems(*member.External, fmt.Sprintf("spec.members[%d].external", i))...)
		}
	}
	if ssh := external.SSH; ssh != nil {
		if ssh.Port < 0 || ssh.Port > lastPort {
			complain("spec.external.ssh.port %d is no port", ssh.Port)
		}
		if ssh.User != "" && !loginName.MatchString(ssh.User) {
			complain("spec.external.ssh.user %q is no name of a user", ssh.User)
		}
		if ssh.JumpHost != "" && !jumpHosts.MatchString(ssh.JumpHost) {
			complain("spec.external.ssh.jumpHost %q is no host such as admin@bastion.example.com:22", ssh.JumpHost)
		}
	}
	return wrong
}

// reachProblems says what is wrong in how a driver or the agent reaches the node of a member. Without
// an address it is the host name.
func (e *External) reachProblems(member ExternalMember, where string) (wrong []string) {
	complain := func(format string, args ...any) { wrong = append(wrong, where+fmt.Sprintf(format, args...)) }
	switch {
	case member.Address == "":
		if e.Driver != "" && member.Host != "" && !nodeAddress.MatchString(member.Host) {
			complain(".host %q is no host name by which the driver reaches the node: correct it, or set external.address", member.Host)
		}
	case e.Driver == "" && e.Agent == "":
		complain(".address says where a driver or the agent reaches the node: set spec.external.driver or spec.external.agent, or leave it out")
	case !nodeAddress.MatchString(member.Address):
		complain(".address %q is no address or host name", member.Address)
	}
	return wrong
}

// UndoneBy is the hook that takes back what a hook does; empty where nothing has to be taken back.
func UndoneBy(hook string) string { return hookUndoneBy[hook] }

// Hooks are the names of all hooks, those that do something before those that take it back.
func Hooks() []string {
	return []string{
		HookUpgrade, HookRollback, HookStop, HookStart, HookKill, HookPause, HookResume,
		HookCutOff, HookReconnect, HookPowerOff, HookPowerOn,
	}
}
