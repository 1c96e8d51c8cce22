"""Resolve names: connections into private networks are made only where the operator says so.

The operator's list has names, and whoever rules a name's entry in the DNS decides where it leads: to this
machine, to the service that hands out a cloud's secrets, to whatever stands behind the firewall. So a name
is resolved once, every address that it has is looked at, and the connection goes to what was looked at.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Sequence
from typing import Final

from annotation.core.i18n import translatable

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_TRANSLATED: Final = ipaddress.IPv6Network("64:ff9b::/96")


class PrivateAddress(OSError):
    """A name leads into a private network. Its only argument is a sentence for people."""


def resolved(host: str, port: int, networks: Sequence[str]) -> list[str]:
    """The addresses to connect to for `host`. Raises `PrivateAddress`, and OSError for a name that leads
    nowhere.

    A host that is an address, `localhost` or a name without a dot (of a neighbouring container) stands in
    the operator's list as what it is, and may be private. Any other name may lead into the open, and into
    `networks` ("10.0.0.0/8").
    """
    answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in answers))
    if not named_by_itself(host):
        opened = [ipaddress.ip_network(network, strict=False) for network in networks]
        for text in addresses:
            address = _plain(text)
            if not is_open(address) and not any(address in network for network in opened):
                raise PrivateAddress(
                    translatable(
                        "{host} leads into a private network, which the operator does not allow "
                        "(TRISTEP_PRIVATE_NETWORKS).",
                        host=host,
                    )
                )
    return addresses


def named_by_itself(host: str) -> bool:
    """Whether a host says by itself that it is near: an address, `localhost`, a name without a dot."""
    bare = host.strip("[]").rstrip(".")
    try:
        ipaddress.ip_address(bare)
    except ValueError:
        return "." not in bare
    return True


def is_open(address: Address) -> bool:
    """Whether an address is one of the open internet."""
    return address.is_global and not address.is_multicast


def _plain(text: str) -> Address:
    """An address, of one of IPv4 in the dress of IPv6 the former."""
    address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return address.ipv4_mapped
        if address.sixtofour is not None:
            return address.sixtofour
        if address in _TRANSLATED:
            return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address
