/* The encoder's version, part of pictures' fingerprints: increase this if any encoded byte changes.
 */
#ifndef FARLANDS_PNG_IMAGE_VERSION_H
#define FARLANDS_PNG_IMAGE_VERSION_H

#define IMAGE_VERSION 5

#endif
