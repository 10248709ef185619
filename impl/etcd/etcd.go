// Package etcd runs a member of a real etcd inside the reference binary, so
// that a local control plane needs nothing installed.
package etcd

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/evenkeel/evenkeel/impl/defects"
)

// Options are what one member is started with. Members of one cluster share
// InitialCluster and ClusterToken.
type Options struct {
	// Name of the member, as in InitialCluster.
	Name string
	// DataDir keeps the member's data over restarts.
	DataDir string
	// Listen… is where the member listens, Advertise… where others reach it:
	// the two differ where a proxy stands between.
	ListenClientURL, AdvertiseClientURL string
	ListenPeerURL, AdvertisePeerURL     string
	// InitialCluster is name=peerURL of each member, separated by commas.
	InitialCluster string
	ClusterToken   string
	// The certificate is shown to clients and peers alike, and used towards
	// peers; the authority has signed those of all of them.
	CAFile, CertFile, KeyFile string
	// Defects are bugs to have on purpose.
	Defects defects.Set
}

// stopBound is how long the member has to leave in good order. Handing over
// leadership takes longer, or forever, when the others stop as well. Not waiting
// loses nothing, because every acknowledged write is on disk.
const stopBound = 3 * time.Second

// Run serves until the context ends. It returns early when the member cannot
// start or breaks down.
func Run(ctx context.Context, o Options) error {
	config, err := o.config()
	if err != nil {
		return err
	}
	config.ZapLoggerBuilder = embed.NewZapLoggerBuilder(newLogger(ctx))
	member, err := embed.StartEtcd(config)
	if err != nil {
		return fmt.Errorf("start etcd member %s: %w", o.Name, err)
	}
	plantCtx, unplant := context.WithCancel(ctx)
	planting := o.plant(plantCtx, member.Server)
	var failed error
	select {
	case <-ctx.Done():
	case failed = <-member.Err():
	case failed = <-planting:
	}
	unplant()
	if failed != nil {
		member.Close()
		return fmt.Errorf("etcd member %s failed: %w", o.Name, failed)
	}
	stopped := make(chan struct{})
	go func() {
		member.Close()
		close(stopped)
	}()
	select {
	case <-stopped:
	case <-time.After(stopBound):
	}
	return nil
}

// newLogger writes to stderr what goes wrong and nothing else: etcd has a lot to
// say while all is well, and calls it an error that it stops on request.
func newLogger(ctx context.Context) *zap.Logger {
	level := zap.LevelEnablerFunc(func(level zapcore.Level) bool { return level >= zapcore.ErrorLevel && ctx.Err() == nil })
	encoder := zap.NewProductionEncoderConfig()
	encoder.EncodeTime = zapcore.RFC3339TimeEncoder
	return zap.New(zapcore.NewCore(zapcore.NewConsoleEncoder(encoder), zapcore.Lock(os.Stderr), level))
}

func (o Options) config() (*embed.Config, error) {
	for flag, value := range map[string]string{
		"--name": o.Name, "--data-dir": o.DataDir, "--initial-cluster": o.InitialCluster, "--cluster-token": o.ClusterToken,
		"--ca-file": o.CAFile, "--cert-file": o.CertFile, "--key-file": o.KeyFile,
	} {
		if value == "" {
			return nil, fmt.Errorf("%s is empty", flag)
		}
	}
	config := embed.NewConfig()
	config.Name = o.Name
	config.Dir = o.DataDir
	config.InitialCluster = o.InitialCluster
	config.InitialClusterToken = o.ClusterToken
	// No client uses the JSON gateway.
	config.EnableGRPCGateway = false

	tls := transport.TLSInfo{CertFile: o.CertFile, KeyFile: o.KeyFile, TrustedCAFile: o.CAFile, ClientCertAuth: true}
	config.ClientTLSInfo = tls
	config.PeerTLSInfo = tls

	for flag, address := range map[string]struct {
		value string
		into  *[]url.URL
	}{
		"--listen-client-url":    {o.ListenClientURL, &config.ListenClientUrls},
		"--advertise-client-url": {o.AdvertiseClientURL, &config.AdvertiseClientUrls},
		"--listen-peer-url":      {o.ListenPeerURL, &config.ListenPeerUrls},
		"--advertise-peer-url":   {o.AdvertisePeerURL, &config.AdvertisePeerUrls},
	} {
		parsed, err := url.Parse(address.value)
		if err != nil || parsed.Scheme != "https" || parsed.Host == "" {
			return nil, fmt.Errorf("%s %q is not a URL that begins with https://", flag, address.value)
		}
		*address.into = []url.URL{*parsed}
	}
	return config, nil
}
