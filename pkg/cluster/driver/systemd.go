package driver

import "fmt"

// mainSignal sends a signal to the main process of a systemd service.
func mainSignal(service, signal string) string {
	return fmt.Sprintf(`process=$(systemctl show --property MainPID --value %[1]s)
[ "$process" -gt 0 ] || { echo "the service %[1]s does not run on this node" >&2; exit 1; }
kill -%[2]s "$process"`, service, signal)
}

// installer fetches an installer's script before it runs it: a pipe into sh would run as much of it
// as has arrived.
func installer(url, run string) string {
	return fmt.Sprintf(`folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
curl -sfL %s -o "$folder/install.sh"
%s`, url, run)
}
