package gate

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"

	"github.com/startgate/startgate/envcheck"
)

// tlsFiles are what the PEM files hold that a wait names: by keys of its own, or
// in its URL.
type tlsFiles struct {
	roots *x509.CertPool   // nil for none
	own   *tls.Certificate // nil for none
}

// readTLSFiles reads the files of all targets, once, and returns what is wrong
// with them.
func (l *line) readTLSFiles() (faults []envcheck.Diagnostic) {
	say := func(t envcheck.Target, key envcheck.Key, reason envcheck.Reason, what, fix envcheck.Word) {
		if reason != "" {
			faults = append(faults, envcheck.Diagnostic{
				Code: envcheck.SettingInvalid, Wait: t.Name, Keys: []envcheck.Key{key}, Reason: reason, Text: what, Fix: fix,
			})
		}
	}
	l.tls = make(map[envcheck.Word]tlsFiles, len(l.targets))
	for _, t := range l.targets {
		pool, key, reason := roots(t)
		say(t, key, reason, "the file of trusted authorities cannot be used", "correct the path, or the file")
		if reason != "" {
			pool = x509.NewCertPool() // nobody is trusted, where the gate goes on
		}
		own, reason := certificate(t)
		say(t, t.Key, reason, "the client's certificate or its key cannot be used", "correct the paths, or the files")
		l.tls[t.Name] = tlsFiles{pool, own}
	}
	return faults
}

// trusted are the authorities that a target trusts: those of its own file, else
// the gate's. nil is the system's.
func (l *line) trusted(t envcheck.Target) *x509.CertPool {
	return cmp.Or(l.tls[t.Name].roots, l.settings.TLSRoots)
}

// roots reads the file of authorities of a target, and returns nil when it has
// none. key is the one that names the file.
func roots(t envcheck.Target) (_ *x509.CertPool, key envcheck.Key, _ envcheck.Reason) {
	path, key := t.CAFile.Reveal(), cmp.Or(t.TLS.CA, t.Key)
	if path == "" {
		path, key = t.URL.Reveal().CAFile, t.Key
	}
	if path == "" {
		return nil, "", ""
	}
	pool, reason := readRoots(path)
	return pool, key, reason
}

// certificate reads the client's own certificate that a target's URL names. As
// for Python's ssl, a URL without a key's file has both in one.
func certificate(t envcheck.Target) (*tls.Certificate, envcheck.Reason) {
	p := t.URL.Reveal()
	if p.CertFile == "" {
		return nil, ""
	}
	cert, reason := readFile(p.CertFile, maxCAFile)
	if reason != "" {
		return nil, reason
	}
	key, reason := readFile(cmp.Or(p.KeyFile, p.CertFile), maxCAFile)
	if reason != "" {
		return nil, reason
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, envcheck.NoCertificate
	}
	return &pair, ""
}
