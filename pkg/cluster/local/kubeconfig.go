package local

import (
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// endpoint is an API server's URL under the name that its context gets.
type endpoint struct{ name, url string }

// writeKubeconfig writes a file that holds everything needed to reach the
// endpoints as the user of the key pair; the first one is the current context.
// The file is readable by its owner only, as the library takes care of.
func writeKubeconfig(file string, ca *authority, user string, pair keyPair, endpoints ...endpoint) error {
	config := clientcmdapi.NewConfig()
	config.AuthInfos[user] = &clientcmdapi.AuthInfo{ClientCertificateData: pair.certPEM, ClientKeyData: pair.keyPEM}
	for _, one := range endpoints {
		config.Clusters[one.name] = &clientcmdapi.Cluster{Server: one.url, CertificateAuthorityData: ca.pem}
		config.Contexts[one.name] = &clientcmdapi.Context{Cluster: one.name, AuthInfo: user}
	}
	config.CurrentContext = endpoints[0].name
	return clientcmd.WriteToFile(*config, file)
}
