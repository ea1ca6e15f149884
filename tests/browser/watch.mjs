/* Records errors of a page. Not a test. */

/*
 * Record in SEEN the URLs that PAGE requests (`urls`) and its errors (`trouble`): on its console,
 * in its scripts, responses of 400 and above, and failed requests, except aborted requests for
 * which IS_CANCELLED(request) is true.
 */
export function watch(page, seen, isCancelled) {
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
        if (reason !== 'net::ERR_ABORTED' || !isCancelled(request))
            seen.trouble.push(`${reason}: ${request.url()}`);
    });
}
