/* Records errors of a page. Not a test. */

/*
 * Record in SEEN the URLs that PAGE requests (`urls`) and its errors (`trouble`): on its console,
 * in its scripts, responses of 400 and above, and failed requests. A request that the page itself
 * cancels, because its tile has left the view or the page is reloaded, is no error: a server cannot
 * cause `ERR_ABORTED`.
 */
export function watch(page, seen) {
    page.on('console', (message) => {
        if (message.type() === 'error')
            seen.trouble.push(`console: ${message.text()}`);
    });
    page.on('pageerror', (error) => seen.trouble.push(`page: ${error}`));
    page.on('request', (request) => seen.urls.push(request.url()));
    page.on('response', (response) => {
        if (response.status() >= 400)
            seen.trouble.push(`${response.status()}: ${response.url()}`);
    });
    page.on('requestfailed', (request) => {
        const reason = request.failure().errorText;
        if (reason !== 'net::ERR_ABORTED')
            seen.trouble.push(`${reason}: ${request.url()}`);
    });
}
