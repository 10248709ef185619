package discovery

import (
	"bytes"
	"encoding/json"
	"fmt"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/runtime"
)

// canonical is the form that clients ask for, and that the tag is made of.
var canonical = Form{Version: V2, MediaType: runtime.ContentTypeJSON}

// fragmentKey identifies the content of a group-version by its address. Entries
// do not change in place, and a key keeps the memory from being reused, so the same
// address means the same content.
type fragmentKey struct {
	version   string
	freshness apidiscoveryv2.DiscoveryFreshness
	resources *apidiscoveryv2.APIResourceDiscovery
	count     int
}

// fragments are the group-versions of a document as they are encoded in its
// canonical form. One change touches one of them; encoding the others again is
// what would make a change late where there are many.
type fragments map[fragmentKey][]byte

// groupStart is where a group begins in the canonical form.
type groupStart struct {
	name   string
	offset int
}

// encodeCanonical writes a list in the canonical form, exactly as encode does. It
// reuses the fragments in known.
func encodeCanonical(list *apidiscoveryv2.APIGroupDiscoveryList, known fragments, size int) (content []byte, starts []groupStart, used fragments, err error) {
	empty := *list
	empty.Items = []apidiscoveryv2.APIGroupDiscovery{}
	head, err := json.Marshal(&empty)
	if err != nil {
		return nil, nil, nil, err
	}
	const tail = "]}"
	if !bytes.HasSuffix(head, []byte("["+tail)) {
		return nil, nil, nil, fmt.Errorf("an empty list is encoded as %s, which does not end with its items", head)
	}
	content = append(make([]byte, 0, size), head[:len(head)-len(tail)]...)
	used = make(fragments, len(known))
	for i, group := range list.Items {
		if i > 0 {
			content = append(content, ',')
		}
		starts = append(starts, groupStart{group.Name, len(content)})
		if content, err = appendGroup(content, group, known, used); err != nil {
			return nil, nil, nil, err
		}
	}
	return append(content, tail+"\n"...), starts, used, nil
}

// appendGroup writes a group: what it is called, which always comes first and is
// never left out, and then its versions.
func appendGroup(content []byte, group apidiscoveryv2.APIGroupDiscovery, known, used fragments) ([]byte, error) {
	versions := group.Versions
	group.Versions = nil
	head, err := json.Marshal(group)
	if err != nil || len(versions) == 0 {
		return append(content, head...), err
	}
	content = append(content, head[:len(head)-1]...)
	content = append(content, `,"versions":[`...)
	for i, version := range versions {
		if i > 0 {
			content = append(content, ',')
		}
		fragment, err := fragmentOf(version, known, used)
		if err != nil {
			return nil, err
		}
		content = append(content, fragment...)
	}
	return append(content, "]}"...), nil
}

func fragmentOf(version apidiscoveryv2.APIVersionDiscovery, known, used fragments) ([]byte, error) {
	if len(version.Resources) == 0 {
		return json.Marshal(version)
	}
	key := fragmentKey{version.Version, version.Freshness, &version.Resources[0], len(version.Resources)}
	fragment, ok := known[key]
	if !ok {
		var err error
		if fragment, err = json.Marshal(version); err != nil {
			return nil, err
		}
	}
	used[key] = fragment
	return fragment, nil
}
