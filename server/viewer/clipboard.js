/* Copies text. */

/* Without TLS a page has no clipboard, only the older command. */
export async function copy(text) {
    if (navigator.clipboard)
        return navigator.clipboard.writeText(text);
    const field = Object.assign(document.createElement('textarea'), { value: text, className: 'unseen' });
    document.body.append(field);
    field.select();
    const done = document.execCommand('copy');
    field.remove();
    if (!done)
        throw new Error('no clipboard');
}
