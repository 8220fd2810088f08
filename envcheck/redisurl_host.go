package envcheck

import (
	"net/netip"
	"strconv"
	"strings"
)

func (p *RedisParts) setHostPort(s string) Reason {
	if strings.ContainsRune(s, ',') {
		return MultipleHosts
	}
	host, port := s, ""
	if strings.HasPrefix(s, "[") {
		end := strings.IndexByte(s, ']')
		if end < 0 {
			return HostInvalid
		}
		host, port = s[1:end], s[end+1:]
		if !validAddress(host) || port != "" && port[0] != ':' {
			return HostInvalid
		}
		port = strings.TrimPrefix(port, ":")
	} else {
		if strings.Count(s, ":") > 1 {
			return HostInvalid // an IPv6 address without brackets
		}
		host, port, _ = strings.Cut(s, ":")
		if host == "" {
			return HostMissing
		}
		if !validHost(host) {
			return HostInvalid
		}
	}
	if port == "" {
		port = redisPort
	}
	p.Host = host
	return p.setPort(port)
}

// setHost reads a host that has a key of its own.
func (p *RedisParts) setHost(s string) Reason {
	if strings.ContainsAny(s, ":[]/@") && !validAddress(s) {
		return HostInvalid
	}
	return p.setHostPort(bracket(s))
}

func (p *RedisParts) setPort(s string) Reason {
	n, ok := digits(s)
	if !ok || n < 1 || n > 65535 {
		return PortInvalid
	}
	p.Port = strconv.Itoa(n)
	return ""
}

// validHost takes what a resolver can be asked for (RFC 1123 and the
// underscores that compose allows in service names), so that a fault is said
// before anything is looked up.
func validHost(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	host = strings.TrimSuffix(host, ".")
	if len(host) > 253 || only(host, numerals+".") {
		return false // resolvers take a number for an address or for nothing
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' || !only(label, lowers+uppers+numerals+"-_") {
			return false
		}
	}
	return true
}

// validAddress reports whether host is an IPv6 address without brackets.
func validAddress(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Is6() && ip.Zone() == ""
}

// bracket is host as a URL has it.
func bracket(host string) string {
	if strings.Contains(host, ":") && !strings.HasPrefix(host, "[") {
		return "[" + host + "]"
	}
	return host
}
