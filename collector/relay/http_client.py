"""One HTTP client a destination, with the rules that hold for all of them: what the relay and the exporters send with.

One try a call, bounded in time from connecting to the end of the answer; redirects are not followed, and at most 4 MiB
of an answer are read, as they are on the wire. Failures of the way there are told from those that no try can cure.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping

import httpx2

from collector.errors import PermanentError, RetryableError
from collector.relay.destination import Destination, DestinationError
from collector.unreachable import why_unreachable

MAX_ANSWER_BYTES = 4 << 20


class HttpClient:
    def __init__(self, destination: Destination, *, who: str, headers: Mapping[str, str], max_connections: int) -> None:
        """`who` begins the sentence of an error. Opens no connection; raises DestinationError for its TLS files."""
        self._who = who
        self._timeout_s = destination.timeout_s
        self._client = httpx2.AsyncClient(
            # The answer is read raw, so that its size on the wire is its size in memory.
            headers={"user-agent": "adhere", "accept-encoding": "identity", **headers},
            verify=_ssl_context(destination),
            follow_redirects=False,
            # The bound of the whole try is below; this one frees the pool where a server takes no data.
            timeout=httpx2.Timeout(destination.timeout_s),
            limits=httpx2.Limits(
                max_connections=max_connections, max_keepalive_connections=max_connections, keepalive_expiry=30.0
            ),
        )

    async def send(
        self,
        method: str,
        url: str,
        *,
        content: bytes | None,
        params: Mapping[str, str | int] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> tuple[httpx2.Response, bytes]:
        """Whatever the server answers. Raises RetryableError where there is no answer, and PermanentError."""
        try:
            async with asyncio.timeout(self._timeout_s):
                request = self._client.build_request(method, url, content=content, params=params, headers=headers)
                return await self._exchange(request)
        except (TimeoutError, httpx2.TimeoutException) as err:
            raise RetryableError(f"{self._who} did not answer within {self._timeout_s:g} s.") from err
        except (httpx2.UnsupportedProtocol, httpx2.LocalProtocolError, httpx2.InvalidURL) as err:
            raise PermanentError(f"{self._who} cannot be sent the request ({type(err).__name__}).") from err
        except (httpx2.RequestError, ssl.SSLError, OSError) as err:
            raise RetryableError(f"{self._who} cannot be reached ({why_unreachable(err)}).") from err

    async def close(self) -> None:
        await self._client.aclose()

    async def _exchange(self, request: httpx2.Request) -> tuple[httpx2.Response, bytes]:
        response = await self._client.send(request, stream=True)
        content = bytearray()
        try:
            async for chunk in response.aiter_raw(1 << 16):
                content += chunk
                if len(content) > MAX_ANSWER_BYTES:
                    content.clear()  # Cut in the middle it would say anything but what was meant.
                    break
        finally:
            await response.aclose()
        return response, bytes(content)


def _ssl_context(destination: Destination) -> ssl.SSLContext:
    tls = destination.tls
    if not any((destination.url(signal) or "").startswith("https:") for signal in destination.signals):
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # Never used; loading the system's CAs takes time and memory.
    try:
        if tls.ca_file is not None:
            context = ssl.create_default_context(cafile=tls.ca_file)
        else:
            context = httpx2.create_ssl_context()
        if tls.insecure_skip_verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if tls.cert_file is not None:
            context.load_cert_chain(tls.cert_file, tls.key_file)
    except (OSError, ssl.SSLError) as err:
        files = ", ".join(str(path) for path in (tls.ca_file, tls.cert_file, tls.key_file) if path is not None)
        raise DestinationError(
            f"The TLS files of the destination {destination.name} ({files}) cannot be loaded; give readable PEM files."
        ) from err
    return context
