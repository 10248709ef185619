// Package controllermanager runs the reference control plane's controllers: for
// now the collector of KEP-2339, which removes what API servers that went away
// left behind in StorageVersion objects.
//
// Of several controller managers one leads. Leadership saves work; nothing
// depends on it for truth, because the collector bases each write on the
// resourceVersion of the object that it judged. What to do with an object is
// decided by storageversion.Collect.
package controllermanager
