/* What goes wrong on a page, whoever drives it. Not a test. */

/*
 * Note in SEEN what PAGE asks for, `urls`, and each error, `trouble`: on its console,
 * of its scripts, answers of 400 and more, and failed requests, but for those aborted
 * of which IS_CANCELLED(request) is true.
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
