package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/evenkeel/evenkeel/impl/controllermanager"
	"github.com/evenkeel/evenkeel/impl/migration"
)

// Bounds of the server that answers health checks.
const (
	healthHeaderBound = 5 * time.Second
	healthStopBound   = time.Second
)

func controllerManagerCommand() *cobra.Command {
	var o controllermanager.Options
	var p played
	var serve healthServer
	var host string
	var releases bool
	command := component("controller-manager", "Run a controller manager",
		func(command *cobra.Command) error {
			r, set, err := p.parse()
			if err != nil {
				return err
			}
			o.Release, o.Emulates, o.Defects, o.CanCoordinate = r.Name, r.Behaves(), set, r.Coordination
			if o.Host, err = hostName(host); err != nil {
				return err
			}
			o.Identity, o.KeepLease = o.Host+"_"+uuid.NewString(), !releases
			manager, err := controllermanager.New(o)
			if err != nil {
				return err
			}
			return serve.during(command.Context(), manager.Healthz(), manager.Run)
		},
		"release", "kubeconfig", "secure-port", "tls-cert-file", "tls-private-key-file")
	p.add(command)
	flags := command.Flags()
	flags.StringVar(&o.Kubeconfig, "kubeconfig", "", "file that says how to reach the API server")
	flags.StringVar(&host, "hostname", "", "name of the member, which begins the identity of the candidate (default the host's name)")
	flags.StringVar(&serve.address, "bind-address", "127.0.0.1", "IP address to answer health checks on")
	flags.IntVar(&serve.port, "secure-port", 0, "port to answer health checks on")
	flags.StringVar(&serve.certFile, "tls-cert-file", "", "certificate shown to those who check")
	flags.StringVar(&serve.keyFile, "tls-private-key-file", "", "key of the certificate")
	flags.StringVar(&o.ResourceLock, "leader-elect-resource-lock", controllermanager.LockLeases, "how the leader is elected: leases, or coordinatedleases by a coordinator, which releases before 1.2 cannot")
	flags.BoolVar(&o.Evidence, "leader-evidence", false, "leave evidence of acting as the leader also where no coordinator elects, for those who compare it with the Lease")
	flags.DurationVar(&o.LeaseDuration, "leader-elect-lease-duration", controllermanager.DefaultLeaseDuration, "how long a leader is believed without a renewal")
	flags.DurationVar(&o.RenewDeadline, "leader-elect-renew-deadline", controllermanager.DefaultRenewDeadline, "how long a leader tries to renew before it gives up")
	flags.DurationVar(&o.RetryPeriod, "leader-elect-retry-period", controllermanager.DefaultRetryPeriod, "how long to wait between two attempts")
	flags.BoolVar(&releases, "leader-elect-release-on-exit", true, "release the Lease when the process is asked to end while it leads (KEP-5366), rather than let it expire")
	flags.IntVar(&o.ExtraElections, "extra-elections", controllermanager.DefaultExtraElections, "how many components beside the controllers the process is an instance of where a coordinator elects, each with a Lease of its own; they do nothing but act")
	flags.Float64Var(&o.MigrationRate, "migration-rate", migration.DefaultRate, "most objects a second that storage version migrations write; they slow down by themselves when servers are busy")
	flags.BoolVar(&o.AutomaticMigration, "automatic-migration", false, "migrate a resource as soon as all servers agree on another storage version, and not only when asked")
	return command
}

// hostName is what the identities of this process begin with, for people; the rest
// makes each unique.
func hostName(host string) (string, error) {
	if host != "" {
		return host, nil
	}
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("read the host name: %w", err)
	}
	return host, nil
}

// healthServer answers health checks over TLS.
type healthServer struct {
	address           string
	port              int
	certFile, keyFile string
}

// during serves for as long as run runs.
func (h healthServer) during(ctx context.Context, handler http.Handler, run func(context.Context) error) error {
	certificate, err := loadCertificate(h.certFile, h.keyFile)
	if err != nil {
		return fmt.Errorf("--tls-cert-file and --tls-private-key-file: %w", err)
	}
	address := net.JoinHostPort(h.address, strconv.Itoa(h.port))
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", address, err)
	}
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: healthHeaderBound,
		TLSConfig:         &tls.Config{GetCertificate: certificate.current, MinVersion: tls.VersionTLS12},
	}

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		if err := server.ServeTLS(listener, "", ""); !errors.Is(err, http.ErrServerClosed) {
			cancel(fmt.Errorf("answer health checks on %s: %w", address, err))
		}
	}()
	err = run(ctx)

	stop, cancelStop := context.WithTimeout(context.Background(), healthStopBound)
	defer cancelStop()
	// A check that is still under way is not worth waiting for.
	_ = server.Shutdown(stop)
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return err
}
