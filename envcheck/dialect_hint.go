package envcheck

// otherClient is the advice to name the worker's family, where one would take
// the URL that generic does not. It is made of the families' names alone.
func (k *KeySpec) otherClient(s string, refused Reason) Word {
	if k.Type != TypeRedis || dialectOf(k.client).client != Generic {
		return ""
	}
	var families []Client
	for _, c := range Clients() {
		if _, reason := ParseRedisURL(c, s); reason == "" {
			families = append(families, c)
		}
	}
	if len(families) == 0 {
		return ""
	}
	return reasonFix(refused) + Word("; or set STARTGATE_CLIENT, or client in the contract, to "+orList(families)+" if the worker is that")
}
